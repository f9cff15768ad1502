"""Makes a module's summary for other files: effects, certain calls, references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from np2tf.translator.control.fitness import Fitness
from np2tf.translator.facts.classes import Classes, decorators
from np2tf.translator.facts.dataflow import block
from np2tf.translator.facts.effects import Effects
from np2tf.translator.facts.facts import Facts
from np2tf.translator.linking.summary import UNKNOWN, ClassSummary, FunctionSummary, ModuleSummary, Ref, Use
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.nodes import children, dotted_name, first_parameter, walk

# -- uses ----------------------------------------------------------------------------------------------------
# The expressions that every call of a function evaluates, and so the calls and reads that are certain.

#: Nodes that run at other times, if at all: inner definitions when they are called, handlers only on the
#: host.
_LATER = frozenset(
    {cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.ExceptHandler, cst.ExceptStarHandler, cst.Raise}
)
_TESTS = frozenset({cst.If, cst.IfExp, cst.Assert})
_SUITES = frozenset({cst.IndentedBlock, cst.SimpleStatementSuite})


class Certain:
    """Analyses the functions of one module."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._exits: set[cst.CSTNode] = set()
        for node in facts.nodes(cst.Return):
            for up in facts.parents.above(node):
                if type(up) is cst.FunctionDef or up in self._exits:
                    break
                self._exits.add(up)

    def nodes(self, function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
        """Yield the nodes evaluated in every call of a function; loops are assumed to have iterations.

        A statement behind a `return` under a test is not certain. The body of an inner function is certain if
        a certain call calls that function.
        """
        functions: set[cst.CSTNode] = {function}
        stack: list[cst.CSTNode] = [function.body]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(self._parts(node)))
            if type(node) is cst.Call and type(node.func) is cst.Name:
                inner = self._inner(node.func)
                if inner is not None and inner not in functions:
                    functions.add(inner)
                    stack.append(inner.body)

    def _parts(self, node: cst.CSTNode) -> Sequence[cst.CSTNode]:
        """Return the children of a node that are evaluated whenever the node is."""
        kind = type(node)
        if kind in _LATER:
            return ()
        if kind in _TESTS:
            return (node.test,)  # type: ignore[attr-defined]
        if kind in _SUITES:
            return self._until_a_return(node)
        if kind is cst.BooleanOperation:
            return (node.left,)  # type: ignore[attr-defined]
        return (node.subject,) if kind is cst.Match else children(node)  # type: ignore[attr-defined]

    def _until_a_return(self, body: cst.CSTNode) -> Sequence[cst.CSTNode]:
        """Return the statements of a block up to the first statement that may leave the function."""
        statements = block(body)
        for place, statement in enumerate(statements):
            if statement in self._exits:
                return statements[: place + 1]
        return statements

    def _inner(self, name: cst.Name) -> cst.FunctionDef | cst.Lambda | None:
        """Return the inner function that a name refers to."""
        owner = self._facts.scopes.owner(name)
        if owner is None or owner.is_module or len(owner.bindings[name.value]) != 1:
            return None
        binding = owner.bindings[name.value][0]
        if type(binding) is cst.FunctionDef:
            return binding
        value = self._facts.parents.assigned_value(binding)
        return value if type(value) is cst.Lambda else None


# -- references ----------------------------------------------------------------------------------------------
# References of expressions to objects in other files, as plain data that does not need the file's tree.

#: The largest number of elements of a table that are recorded.
_WIDEST = 64
_DISPLAYS = (cst.Dict, cst.List, cst.Tuple, cst.Set)
_FIELD = frozenset({"field", "dataclasses.field"})


class References:
    """Analyses the expressions of one module."""

    def __init__(self, facts: Facts, classes: Classes) -> None:
        self._facts = facts
        self._classes = classes
        self._visits: set[cst.CSTNode] = set()

    # -- expressions ----------------------------------------------------------------------------------------

    def of(self, node: cst.CSTNode) -> Ref:
        """Return a reference to the object that an expression refers to."""
        if node in self._visits:
            return UNKNOWN
        self._visits.add(node)
        try:
            return self._of(node)
        finally:
            self._visits.discard(node)

    def _of(self, node: cst.CSTNode) -> Ref:
        if type(node) is cst.Name:
            return self._name(node)
        if type(node) is cst.Attribute:
            return self._below("attribute", node.value, node.attr.value)
        if type(node) is cst.Subscript:
            return self._below("item", node.value)
        if type(node) is cst.Call:
            return self._call(node)
        if type(node) is cst.IfExp:
            return Ref("any", "", (self.of(node.body), self.of(node.orelse)))
        if type(node) is cst.BooleanOperation:
            return Ref("any", "", (self.of(node.left), self.of(node.right)))
        if isinstance(node, _DISPLAYS) and len(node.elements) <= _WIDEST:
            return Ref("table", "", tuple(self.of(element.value) for element in node.elements))
        return UNKNOWN

    def _below(self, kind: str, base: cst.CSTNode, name: str = "") -> Ref:
        ref = self.of(base)
        return UNKNOWN if ref is UNKNOWN else Ref(kind, name, (ref,))

    def _call(self, node: cst.Call) -> Ref:
        if type(node.func) is cst.Name and node.func.value == "super" and not node.args:
            kind = self._class_around(node)
            return UNKNOWN if kind is None else Ref("super", kind.name.value)
        func = self.of(node.func)
        if func is UNKNOWN:
            return UNKNOWN
        first = [self.of(arg.value) for arg in node.args[:1] if not arg.star and arg.keyword is None]
        return Ref("call", "", (func, *first))

    def _class_around(self, node: cst.CSTNode) -> cst.ClassDef | None:
        for up in self._facts.parents.above(node):
            kind = self._classes.class_of(up) if type(up) is cst.FunctionDef else None
            if kind is not None:
                return kind
        return None

    def _name(self, node: cst.Name) -> Ref:
        name, scopes = node.value, self._facts.scopes
        owner = scopes.of(node).owner_of(name)
        if owner is None:
            # A builtin, unless a star import brings the name.
            return Ref("top", name) if self._facts.imports.other_stars else UNKNOWN
        if owner.is_module:
            return Ref("top", name)
        bindings = owner.bindings[name]
        if len(bindings) != 1 or type(owner.node) is not cst.FunctionDef:
            return UNKNOWN
        if type(bindings[0]) is cst.Param:
            return self._parameter(bindings[0], owner.node, node)
        return self.reference_of(bindings[0])

    def _parameter(self, param: cst.Param, function: cst.FunctionDef, node: cst.Name) -> Ref:
        kind = self._classes.class_of(function)
        is_first = param.name.value == first_parameter(function)
        if kind is not None and "staticmethod" not in decorators(function) and is_first:
            return Ref("class" if "classmethod" in decorators(function) else "self", kind.name.value)
        if param.annotation is not None:
            return self._object(param.annotation.annotation)
        inside = self._facts.scopes.function_of(node)
        return UNKNOWN if inside is function else Ref("around", param.name.value)

    def _object(self, annotation: cst.BaseExpression) -> Ref:
        if type(annotation) is cst.SimpleString:
            name = str(annotation.evaluated_value)
            return Ref("object", "", (Ref("top", name),)) if name.isidentifier() else UNKNOWN
        plain = type(annotation) in (cst.Name, cst.Attribute)
        return self._below("object", annotation) if plain else UNKNOWN

    # -- bindings -------------------------------------------------------------------------------------------

    def reference_of(self, binding: cst.CSTNode) -> Ref:
        """Return a reference to the object that a binding gives its name."""
        if type(binding) is cst.ImportAlias:
            return self._import_ref(binding)
        top = self._facts.parents[binding]
        if type(top) is cst.Module or self._facts.scopes.of(binding).is_module:
            if type(binding) is cst.FunctionDef:
                return Ref("function", binding.name.value)
            if type(binding) is cst.ClassDef:
                return Ref("class", binding.name.value)
        value = self._facts.parents.given_value(binding)
        return UNKNOWN if value is None else self.of(value)

    def _import_ref(self, alias: cst.ImportAlias) -> Ref:
        around = self._facts.parents[alias]
        if type(around) is cst.ImportFrom:
            return Ref("attribute", alias.evaluated_name, (module_of(around),))
        whole = alias.evaluated_name
        return Ref("module", whole if alias.asname is not None else whole.partition(".")[0])

    # -- classes --------------------------------------------------------------------------------------------

    def class_summary(self, node: cst.ClassDef) -> ClassSummary:
        """Return the summary of a class at the top of the module."""
        bases = [arg.value.value if type(arg.value) is cst.Subscript else arg.value for arg in node.bases]
        refs_by_name: dict[str, list[Ref]] = {}
        for name, ref in self._assignments(node):
            refs_by_name.setdefault(name, []).append(ref)
        attributes = {
            name: refs[0] if len(refs) == 1 else Ref("any", "", tuple(refs))
            for name, refs in refs_by_name.items()
        }
        methods = frozenset(
            method.name.value for method in block(node.body) if type(method) is cst.FunctionDef
        )
        return ClassSummary(node.name.value, tuple(map(self.of, filter(_brings, bases))), methods, attributes)

    def _assignments(self, node: cst.ClassDef) -> Iterator[tuple[str, Ref]]:
        for statement in block(node.body):
            for part in statement.body if type(statement) is cst.SimpleStatementLine else ():
                if type(part) is cst.Assign:
                    names = [
                        assign_target.target.value
                        for assign_target in part.targets
                        if type(assign_target.target) is cst.Name
                    ]
                    yield from ((name, self.of(part.value)) for name in names)
                elif type(part) is cst.AnnAssign and type(part.target) is cst.Name:
                    yield part.target.value, self._field(part)
            if type(statement) is cst.FunctionDef:
                yield from self._set_by(statement)

    def _field(self, node: cst.AnnAssign) -> Ref:
        """Return a reference for a dataclass's or named tuple's field: default factory, or annotation."""
        if type(node.value) is cst.Call and dotted_name(node.value.func) in _FIELD:
            for arg in node.value.args:
                if arg.keyword is not None and arg.keyword.value == "default_factory":
                    return self._below("call", arg.value)
        return self._object(node.annotation.annotation)

    def _set_by(self, method: cst.FunctionDef) -> Iterator[tuple[str, Ref]]:
        first = first_parameter(method)
        if first is None or {"staticmethod", "classmethod"}.intersection(decorators(method)):
            return
        for part in walk(method.body):
            for target, value in _stores(part):
                base = target.value if type(target) is cst.Attribute else None
                if type(base) is cst.Name and base.value == first:
                    yield target.attr.value, UNKNOWN if value is None else self.of(value)  # type: ignore[attr-defined]


def _stores(node: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression | None]]:
    """Yield the targets of an assignment, each with the assigned expression if the text shows it."""
    if type(node) is cst.Assign:
        yield from ((assign_target.target, node.value) for assign_target in node.targets)
    elif type(node) is cst.AnnAssign:
        yield node.target, node.value
    elif type(node) is cst.AugAssign:
        yield node.target, None


def module_of(node: cst.ImportFrom) -> Ref:
    """Return the module that a `from … import` statement names."""
    return Ref("module", "." * len(node.relative) + (dotted_name(node.module) or ""))


def _brings(base: cst.BaseExpression) -> bool:
    return not (type(base) is cst.Name and base.value == "object")


# -- summaries -----------------------------------------------------------------------------------------------
# Makes a module's summary for the analysis of other modules: the effects, calls and names of its
# functions.

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
        self._effects = facts.get(Effects)
        self._fitness = facts.get(Fitness, options)
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
        stars = [node for node in facts.nodes(cst.ImportFrom) if type(node.names) is cst.ImportStar]
        return ModuleSummary(
            path,
            {name: self._top(bindings) for name, bindings in facts.scopes.module.bindings.items()},
            tuple(map(module_of, stars)),
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

    def _exports(self) -> frozenset[str] | None:
        """Return the names in `__all__`, if it is written as one list or tuple of strings."""
        bindings = self._facts.scopes.module.bindings.get("__all__", [])
        value = self._facts.parents.assigned_value(bindings[0]) if len(bindings) == 1 else None
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
            first_parameter(function) or "",
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
    """Return the line where each function begins: by text if that finds all of them, else by the tree."""
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
