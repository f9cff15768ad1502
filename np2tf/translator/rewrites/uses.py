"""Every use of a NumPy name in a module, and its translation: `names` edits them, `imports` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import libcst as cst

from np2tf.core import rules
from np2tf.core.rules import Rule
from np2tf.translator.facts.facts import Facts
from np2tf.translator.rewrites.removed_names import (
    is_call_needed,
    is_called_alike,
    is_for_other_versions,
)
from np2tf.translator.tree.nodes import dotted_name, walk, words

MODULES = frozenset({"numpy", "numpy.linalg", "numpy.fft", "numpy.random"})
"""The modules of NumPy that np2tf.tnp has."""

# Modules of NumPy that do not compute, or that cannot work with tensors. Code that uses them stays on NumPy,
# and gets arrays through their protocols.
ON_NUMPY = words(
    """
    testing ma char rec strings lib ctypeslib f2py typing exceptions dtypes polynomial core _core version
    compat
    distutils matlib emath __version__ __name__ __file__ __path__ __doc__ __config__ __dict__ show_config
    show_runtime
    get_include test
    """
)


_NDARRAY = "numpy.ndarray"


@dataclass(frozen=True, eq=False)
class Use:
    """One use of a name, and the longest dotted chain from it that is NumPy's."""

    name: cst.Name
    """The name at the start of the chain, which an import of the source bound."""
    stands_for: str
    """The NumPy name or module that this name refers to, such as `numpy` or `numpy.linalg.norm`."""
    node: cst.Name | cst.Attribute
    """The chain up to the public name (`np.linalg.norm`), or the whole of an unknown chain."""
    qualified_name: str
    rule: Rule | None

    @property
    def is_module(self) -> bool:
        """True if the use refers to a module itself."""
        return self.qualified_name in MODULES

    @property
    def on_numpy(self) -> bool:
        """True if the use refers to a part of NumPy that np2tf does not translate."""
        return self.qualified_name.split(".")[1:2] != [] and self.qualified_name.split(".")[1] in ON_NUMPY

    @property
    def is_known(self) -> bool:
        """True if np2tf has a translation for the use."""
        return self.is_module or (self.rule is not None and self.rule.kind != "no")


def uses(facts: Facts) -> Sequence[Use]:
    """Return the uses of NumPy names in a module, in source order."""
    return facts.get(_uses)


def _uses(facts: Facts) -> Sequence[Use]:
    names = facts.nodes(cst.Name) if facts.imports.imports_numpy else ()
    meanings = ((name, facts.imports.numpy_name(name)) for name in names)
    return [_use(facts, name, stands_for) for name, stands_for in meanings if stands_for is not None]


def _use(facts: Facts, name: cst.Name, stands_for: str) -> Use:
    node: cst.Name | cst.Attribute = name
    path = stands_for
    while True:
        rule = rules.find(path)
        if rule is not None and rule.name != "numpy.ndarray" and not rule.ufunc:
            return Use(name, stands_for, node, path, rule)
        up = facts.parents[node]
        longer = type(up) is cst.Attribute and up.value is node
        if rule is not None:
            # `np.add.at` and `np.ndarray.sort` have rules of their own; `np.add.reduce` is an attribute of
            # np.add.
            if type(up) is cst.Attribute and longer and rules.find(f"{path}.{up.attr.value}") is not None:
                node, path = up, f"{path}.{up.attr.value}"
                continue
            return Use(name, stands_for, node, path, rule)
        if path not in MODULES or not longer:
            return Use(name, stands_for, node, path, None)
        assert type(up) is cst.Attribute
        node, path = up, f"{path}.{up.attr.value}"


def is_target(facts: Facts, node: cst.CSTNode) -> bool:
    """Return whether an expression is assigned to or deleted."""
    up = facts.parents[node]
    if type(up) is cst.AugAssign or type(up) is cst.AnnAssign:
        return up.target is node
    return type(up) is cst.AssignTarget or type(up) is cst.Del


def stays(facts: Facts, use: Use) -> bool:
    """Return whether a use stays on NumPy."""
    if use.name in facts.compiler_nodes:
        return True
    if use.on_numpy or not use.is_known or is_target(facts, use.node):
        return True
    if numpys_own(facts, use):
        return True
    rule = use.rule
    if use.is_module and _asked_for_unknown(facts, use):
        return True
    return rule is not None and is_call_needed(rule) and not is_called_alike(facts, use.node, rule)


def has_moved(facts: Facts, use: Use) -> bool:
    """Return whether NumPy has moved a name to a module that stays on NumPy, and the use follows it there."""
    rule = use.rule
    if rule is None or not rule.removed or rule.kind != "no" or not rule.new_name:
        return False
    if type(use.node) is not cst.Attribute or is_target(facts, use.node):
        return False
    return not is_for_other_versions(facts, use.node)


def numpys_own(facts: Facts, use: Use) -> bool:
    """Return whether a use means `np.ndarray` itself, passes on the module, or has a function as a value.

    Arrays on the host have NumPy's class, so code that compares it, derives from it or looks it up must get
    it. A test with `isinstance`, a call and an annotation mean arrays of any kind. The parameters of NumPy's
    own types are NumPy's.
    """
    if _is_value(facts, use) or compared_expression(facts, use) is not None:
        return True
    if _parameter_of_type(facts, use.node):
        return True
    if use.qualified_name == _NDARRAY or use.qualified_name.startswith(f"{_NDARRAY}."):
        return not (_is_called(facts, use) or _is_class_test(facts, use.node) or _annotates(facts, use.node))
    up = facts.parents[use.node]
    asked_for = type(up) is cst.Element and _asked_for(facts, up) is True
    return use.is_module and (_is_returned(facts, use.node) or asked_for)


def _parameter_of_type(facts: Facts, node: cst.CSTNode) -> bool:
    """Return whether a name is in the brackets of `npt.NDArray[np.float64]`."""
    up = facts.parents.nearest(node, cst.Subscript)
    inside = type(up) is cst.Subscript and up.value is not node
    base = facts.imports.numpy_name(up.value) if inside and isinstance(up.value, _CHAIN) else None  # type: ignore[union-attr]
    return base is not None and base.startswith(_TYPING)


_CHAIN = (cst.Name, cst.Attribute)
_TYPING = "numpy.typing."


def comparison_target(facts: Facts, use: Use) -> cst.ComparisonTarget | cst.Element | None:
    """Return the `is np.ndarray` or the element of `in (np.ndarray, list)` that tests a class or module.

    The tested object may be NumPy's or np2tf's: an array may be on the host or in a graph, and translated or
    untranslated code may have passed on the module.
    """
    if use.qualified_name not in ("numpy", _NDARRAY):
        return None
    up = facts.parents[use.node]
    if type(up) is cst.ComparisonTarget:
        comparison = facts.parents[up]
        alone = type(comparison) is cst.Comparison and len(comparison.comparisons) == 1
        return up if alone and isinstance(up.operator, _IS) else None
    return up if type(up) is cst.Element and _asked_for(facts, up) is False else None


_IS = (cst.Is, cst.IsNot, cst.Equal, cst.NotEqual)


def compared_expression(facts: Facts, use: Use) -> cst.BaseExpression | None:
    """Return the expression that is compared with a function of NumPy: the `f` of `f is np.add`, `np.add ==
    f`, `f in (np.add, np.sin)`, or of `match f:` with `case np.add:`.

    f may be NumPy's function or np2tf's.
    """
    if not _is_replaced_function(use):
        return None
    node: cst.CSTNode | None = use.node
    up = facts.parents[use.node]
    if type(up) is cst.MatchValue:
        while isinstance(up, (cst.MatchValue, cst.MatchOr, cst.MatchOrElement, cst.MatchAs, cst.MatchCase)):
            up = facts.parents[up]
        return up.subject if type(up) is cst.Match else None
    is_element = type(up) is cst.Element
    if is_element:
        node, up = facts.parents[up], facts.parents[facts.parents[up]]  # type: ignore[index]
    comparison = facts.parents[up] if type(up) is cst.ComparisonTarget else up
    if type(comparison) is not cst.Comparison or len(comparison.comparisons) != 1:
        return None
    (target,) = comparison.comparisons
    if not isinstance(target.operator, (cst.In, cst.NotIn) if is_element else _IS):
        return None
    if comparison.left is node:
        return None if is_element else target.comparator
    return comparison.left


def _is_value(facts: Facts, use: Use) -> bool:
    """Return whether a function of NumPy is a value: an item of a table, an attribute, a default, a result.

    Such a value is NumPy's own function, for code that compares it, looks it up, or is handed it by NumPy.
    Calls of it reach arrays on TensorFlow by their protocols. A function that is called at once, that has no
    array whose protocol NumPy could ask, or that is handed to a function that calls it, is np2tf's.
    """
    if not _is_replaced_function(use):
        return False
    up = facts.parents[use.node]
    if _is_key(facts, use.node):
        return True
    if not use.rule.overridable or isinstance(up, (cst.Call, cst.Attribute, cst.Decorator)):  # type: ignore[union-attr]
        return False
    call = facts.parents[up] if type(up) is cst.Arg else None
    return type(call) is not cst.Call or not _calls_arguments(facts, call.func)


def _is_replaced_function(use: Use) -> bool:
    """Return whether np2tf may have an object of its own in the place of NumPy's function."""
    rule = use.rule
    if rule is None or rule.kind == "no" or rule.same_object or rule.removed or rule.number:
        return False
    return use.qualified_name != _NDARRAY and not use.qualified_name.startswith(f"{_NDARRAY}.")


def _is_key(facts: Facts, node: cst.CSTNode) -> bool:
    """Return whether an expression is a key: of a dict or set, of `table[np.sum]`, of `table.get(np.sum)`, or
    of a decorator that may fill a table, `@implements(np.sum)`.
    """
    up = facts.parents[node]
    if type(up) is cst.DictElement:
        return up.key is node
    if type(up) is cst.Element:
        return type(facts.parents[up]) is cst.Set
    if type(up) is not cst.Arg:
        return type(up) is cst.Index
    call = facts.parents[up]
    if type(call) is not cst.Call:
        return False
    is_lookup = type(call.func) is cst.Attribute and call.func.attr.value in _LOOKUPS and call.args[0] is up
    return is_lookup or type(facts.parents[call]) is cst.Decorator


_LOOKUPS = frozenset(("get", "setdefault", "pop"))


def _calls_arguments(facts: Facts, function: cst.BaseExpression) -> bool:
    """Return whether a function calls the functions among its arguments, on arrays or tensors."""
    if type(function) is cst.Name and function.value in _CALLING_BUILTINS:
        return facts.scopes.owner(function) is None
    name = facts.imports.imported_name(function)
    return name is not None and (name in _CALLING or name.split(".")[0] in _CALLING_MODULES)


_CALLING_BUILTINS = frozenset(("map", "filter", "sorted", "min", "max"))
_CALLING = frozenset(("functools.partial", "functools.reduce", "itertools.starmap", "itertools.accumulate"))
_CALLING_MODULES = frozenset(("numpy", "np2tf", "tensorflow", "keras"))


def _is_called(facts: Facts, use: Use) -> bool:
    call = facts.parents[use.node]
    return use.qualified_name == _NDARRAY and type(call) is cst.Call and call.func is use.node


def _is_class_test(facts: Facts, node: cst.CSTNode) -> bool:
    """Return whether a class is tested by `isinstance`, also in a tuple or union, or by a pattern."""
    up = facts.parents[node]
    while isinstance(up, (cst.Element, cst.Tuple)) or _is_union(up):
        node, up = up, facts.parents[up]
    if type(up) is cst.MatchClass:
        return up.cls is node
    call = facts.parents[up] if type(up) is cst.Arg else None
    if type(call) is not cst.Call or type(call.func) is not cst.Name or len(call.args) != 2:
        return False
    is_builtin = facts.scopes.of(call.func).owner_of("isinstance") is None
    return call.func.value == "isinstance" and is_builtin and call.args[1] is up


def _is_union(node: cst.CSTNode | None) -> TypeGuard[cst.BinaryOperation]:
    return type(node) is cst.BinaryOperation and type(node.operator) is cst.BitOr


def _annotates(facts: Facts, node: cst.CSTNode) -> bool:
    """Return whether a class is in an annotation that `@f.register` does not read."""
    annotation = facts.parents.nearest(node, cst.Annotation)
    if annotation is None:
        return False
    owner = facts.parents.nearest(annotation, cst.FunctionDef)
    parameter = facts.parents.nearest(annotation, cst.Param, cst.FunctionDef)
    if owner is None or type(parameter) is not cst.Param:
        return True
    return not any(
        type(decorator.decorator) is cst.Attribute and decorator.decorator.attr.value == "register"
        for decorator in owner.decorators
    )


def _is_returned(facts: Facts, node: cst.CSTNode) -> bool:
    """Return whether a function returns this object, at least sometimes: its caller may compare it."""
    up = facts.parents[node]
    while type(up) is cst.IfExp and up.test is not node:
        node, up = up, facts.parents[up]
    return type(up) is cst.Return


def _asked_for(facts: Facts, element: cst.Element) -> bool | None:
    """Return whether the `x in (…)` around an element also names np2tf; None if there is none."""
    display = facts.parents[element]
    target = facts.parents[display] if isinstance(display, (cst.Tuple, cst.List, cst.Set)) else None
    if not isinstance(target, cst.ComparisonTarget) or not isinstance(target.operator, (cst.In, cst.NotIn)):
        return None
    assert isinstance(display, (cst.Tuple, cst.List, cst.Set))
    names = [dotted_name(element.value) or "" for element in display.elements]
    return any(name.split(".")[0] == facts.imports.tnp_name for name in names)


def _asked_for_unknown(facts: Facts, use: Use) -> bool:
    """Return whether `hasattr(np, "in1d")` or the like asks NumPy for a name without plain translation."""
    arg = facts.parents[use.node]
    call = facts.parents[arg] if type(arg) is cst.Arg else None
    if type(call) is not cst.Call or type(call.func) is not cst.Name or len(call.args) < 2:
        return False
    name = call.args[1].value
    if call.func.value not in ("hasattr", "getattr") or type(name) is not cst.SimpleString:
        return False
    rule = rules.find(f"{use.qualified_name}.{name.raw_value}")
    return rule is None or rule.kind == "no" or rule.removed


def quoted_annotations(facts: Facts, new: str) -> list[tuple[cst.SimpleString, str]]:
    """Return the annotations in quotes that name the NumPy module, and their text with `new` as its name."""
    aliases = [name for name in facts.imports.names_of("numpy") if _is_numpy_in_module(name, facts)]
    if not aliases:
        return []
    alternatives = "|".join(map(re.escape, sorted(aliases)))
    # The text in the brackets of NumPy's own types stays.
    pattern = re.compile(rf"{_QUOTED_TYPE}|(?<![\w.])(?P<numpy>{alternatives})(?=\.\w)")
    replacements = [
        (string, pattern.sub(lambda match: new if match["numpy"] else match[0], string.value))
        for string in _quoted_annotations(facts)
    ]
    return [(string, text) for string, text in replacements if text != string.value]


def _is_numpy_in_module(name: str, facts: Facts) -> bool:
    """Return whether a name certainly refers to the NumPy module where annotations are evaluated."""
    bindings = facts.scopes.module.bindings.get(name, ())
    return bool(bindings) and all(facts.imports.qualified_binding(binding) == "numpy" for binding in bindings)


_QUOTED_TYPE = r"\bNDArray\[[^\]]*\]"


def quoted_types(facts: Facts) -> bool:
    """Return whether a quoted annotation has a parameter of NumPy's own types."""
    return any(re.search(_QUOTED_TYPE, string.value) for string in _quoted_annotations(facts))


def _quoted_annotations(facts: Facts) -> Iterator[cst.SimpleString]:
    for annotation in facts.nodes(cst.Annotation):
        yield from (string for string in walk(annotation) if type(string) is cst.SimpleString)
