"""Makes a module's summary for the analysis of other modules: the effects, calls and names of its
functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from np2tf.facts import Facts
from np2tf.facts.classes import decorators
from np2tf.facts.effects import Effects
from np2tf.facts.references import References, module_of
from np2tf.facts.uses import Certain
from np2tf.linking.summary import UNKNOWN, FunctionSummary, ModuleSummary, Ref, Use
from np2tf.options import Options
from np2tf.rewrites.control.fitness import Fitness

_ABSTRACT = frozenset({"abstractmethod", "abc.abstractmethod"})
_SEEN_THROUGH = {
    "staticmethod",
    "classmethod",
    "property",
    "cached_property",
    "functools.cached_property",
} | _ABSTRACT
_PROPERTIES = frozenset({"property", "cached_property", "functools.cached_property"})


def summarise(facts: Facts, text: str, path: str, options: Options) -> ModuleSummary:
    """Return the summary of one module; `text` is its source."""
    return _Summaries(facts, text, options).module(path)


class _Summaries:
    def __init__(self, facts: Facts, text: str, options: Options) -> None:
        self._facts = facts
        self._certain = Certain(facts)
        self._lines = _lines(facts, text)
        self._effects = Effects(facts)
        self._fitness = Fitness.of(facts, options)
        self._references = References(facts, self._effects.classes)
        self._returns: dict[cst.CSTNode | None, list[cst.Name]] = {}
        for node in facts.nodes(cst.Return):
            if type(node.value) is cst.Name:
                self._returns.setdefault(facts.scopes.function_of(node.value), []).append(node.value)

    def module(self, path: str) -> ModuleSummary:
        references, facts = self._references, self._facts
        functions: dict[str, FunctionSummary] = {}
        for name, function in self._functions():
            functions.update(
                (inner_function.name, inner_function) for inner_function in self._with_inner(name, function)
            )
        classes = [node for node in facts.module.body if type(node) is cst.ClassDef]
        return ModuleSummary(
            path,
            {name: self._top(bindings) for name, bindings in facts.scopes.module.bindings.items()},
            tuple(self._stars()),
            self._exports(),
            functions,
            {node.name.value: references.class_summary(node) for node in classes},
        )

    def _functions(self) -> Iterator[tuple[str, cst.FunctionDef]]:
        for function in self._facts.nodes(cst.FunctionDef):
            kind = self._effects.classes.class_of(function)
            if self._effects.classes.is_accessor(function):
                continue  # the property of the same name is its getter
            if kind is not None:
                yield f"{kind.name.value}.{function.name.value}", function
            elif self._facts.scopes.of(function).is_module:
                yield function.name.value, function

    def _top(self, bindings: list[cst.CSTNode]) -> Ref:
        if sum(type(binding) in (cst.FunctionDef, cst.ClassDef) for binding in bindings) > 1:
            return UNKNOWN
        references = tuple(self._references.reference_of(binding) for binding in bindings)
        return references[0] if len(references) == 1 else Ref("any", "", references)

    def _stars(self) -> Iterator[Ref]:
        for node in self._facts.nodes(cst.ImportFrom):
            if type(node.names) is cst.ImportStar:
                yield module_of(node)

    def _exports(self) -> frozenset[str] | None:
        """Return the names in `__all__`, if it is written as one list or tuple of strings."""
        bindings = self._facts.scopes.module.bindings.get("__all__", [])
        target = self._facts.parents[bindings[0]] if len(bindings) == 1 else None
        assign = self._facts.parents[target] if type(target) is cst.AssignTarget else None
        value = assign.value if type(assign) is cst.Assign else None
        if not isinstance(value, (cst.List, cst.Tuple)):
            return None
        texts = [element.value for element in value.elements]
        return frozenset(
            str(element.evaluated_value) for element in texts if type(element) is cst.SimpleString
        )

    # -- one function ---------------------------------------------------------------------------------------

    def _with_inner(self, name: str, function: cst.FunctionDef) -> Iterator[FunctionSummary]:
        """Yield the summary of a function, and of the inner function that it returns, as decorators do."""
        inner, result_name = self._returned_function(function)
        if inner is not None:
            result_name = f"{name}.{inner.name.value}"
            yield from self._with_inner(result_name, inner)
        params = [*function.params.posonly_params, *function.params.params]
        of = decorators(function)
        yield FunctionSummary(
            name,
            self._lines[function],
            self._why(function),
            tuple(dict.fromkeys(self._uses(function))),
            tuple(
                self._references.of(item.decorator)
                for item, path in zip(function.decorators, of)
                if path not in _SEEN_THROUGH
            ),
            result_name,
            params[0].name.value if params else "",
            function in self._fitness.staged_functions,
            not _PROPERTIES.isdisjoint(map(str, of)),
            not _ABSTRACT.isdisjoint(map(str, of)),
        )

    def _returned_function(self, function: cst.FunctionDef) -> tuple[cst.FunctionDef | None, str]:
        inside = self._facts.scopes.inside(function)
        for name in self._returns.get(function, ()):
            bindings = inside.bindings.get(name.value, [])
            if len(bindings) == 1 and type(bindings[0]) is cst.FunctionDef:
                return bindings[0], ""
            if len(bindings) == 1 and type(bindings[0]) is cst.Param:
                return None, name.value
        return None, ""

    def _why(self, function: cst.FunctionDef) -> str:
        """Return the reason in a function's own text that keeps it from being traced where it is called."""
        unfit = self._fitness.every_unfit.get(function)
        if unfit is not None and unfit.is_own:
            return unfit.reason
        if function in self._fitness.fit:
            return ""
        problems = self._effects.problems(function)
        return f"it {problems[0].reason}" if problems else ""

    def _uses(self, function: cst.FunctionDef) -> Iterator[Use]:
        callees = set()
        for node in self._certain.nodes(function):
            kind = type(node)
            if kind is cst.Call:
                callees.add(node.func)  # type: ignore[attr-defined]
                yield from self._use(node.func, is_call=True)  # type: ignore[attr-defined]
            elif kind is cst.Attribute and node not in callees:
                yield from self._use(node, is_call=False)

    def _use(self, node: cst.CSTNode, is_call: bool) -> Iterator[Use]:
        if self._facts.imports.numpy_name(node) is None:
            ref = self._references.of(node)
            if ref.kind not in ("unknown", "module"):
                yield Use(ref, is_call)


_DEF = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]", re.MULTILINE)


def _lines(facts: Facts, text: str) -> dict[cst.FunctionDef, int]:
    """Return the line where each function begins.

    The text search is used if it finds as many definitions as there are; else the positions of the tree are.
    """
    functions = facts.nodes(cst.FunctionDef)
    starts = [match.start() for match in _DEF.finditer(text)]
    if len(starts) != len(functions):
        return {function: facts.position(function)[0] for function in functions}
    lines, line, end = [], 1, 0
    for start in starts:
        line += text.count("\n", end, start)
        end = start
        lines.append(line)
    return dict(zip(functions, lines))
