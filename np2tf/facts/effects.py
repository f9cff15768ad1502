"""Which functions only compute: every effect known, nothing touched but arrays, numbers and own containers.

Only such a function may be staged, because staging runs its text once and its graph many times. What stands
against a function is a Problem: a node and a reason in words.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from np2tf import rules
from np2tf.facts import Facts, Kind
from np2tf.facts.changed import changed_globals, root_of
from np2tf.facts.classes import Classes
from np2tf.facts.constructors import Constructors
from np2tf.facts.draws import DRAWS
from np2tf.facts.flow import GROWS, block, parameters
from np2tf.facts.guarded import hidden, staged_parts
from np2tf.facts.stores import is_own, store_problems
from np2tf.facts.texts import Texts, print_problem
from np2tf.tree.names import dotted
from np2tf.tree.walk import children, walk

_BUILTINS = frozenset(
    [
        "len",
        "range",
        "enumerate",
        "zip",
        "abs",
        "min",
        "max",
        "sum",
        "int",
        "float",
        "bool",
        "complex",
        "isinstance",
        "issubclass",
        "tuple",
        "list",
        "set",
        "dict",
        "frozenset",
        "reversed",
        "sorted",
        "round",
        "divmod",
        "pow",
        "any",
        "all",
        "map",
        "filter",
        "slice",
        "type",
        "hasattr",
        "callable",
        "str",
        "repr",
    ]
)
_EXCEPTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)
_READS = frozenset(
    [
        "items",
        "keys",
        "values",
        "get",
        "index",
        "count",
        "join",
        "split",
        "strip",
        "lower",
        "upper",
        "startswith",
        "endswith",
        "replace",
        "format",
    ]
)
_NEEDS_VALUE = frozenset(
    [
        "item",
        "tolist",
        "tobytes",
        "tofile",
        "dump",
        "dumps",
        "setflags",
        "data",
        "ctypes",
        "flags",
        "strides",
        "base",
    ]
)
_STATEMENTS: dict[type[cst.CSTNode], str] = {
    cst.Yield: "is a generator",
    cst.Await: "is a coroutine",
    cst.Global: "rebinds a name of the module",
    cst.TryStar: "has a try block, whose handlers a graph cannot run",
    cst.With: "has a with block, whose effects are unknown",
    cst.Import: "imports when it runs",
    cst.ImportFrom: "imports when it runs",
    cst.ClassDef: "defines a class",
    cst.Del: "deletes a name or an element",
}


#: What np.errstate may say without an error or a call being due.
_QUIET = ("ignore", "warn")


@dataclass(frozen=True)
class Problem:
    """What stands against staging a function: where, and why (as the rest of "it ...")."""

    node: cst.CSTNode
    reason: str


@dataclass
class Effects:
    """The effects of a module's functions, each looked at once."""

    facts: Facts
    _problems: dict[cst.FunctionDef, list[Problem]] = field(default_factory=dict)
    _unstable: set[str] | None = None
    classes: Classes = field(init=False)
    constructors: Constructors = field(init=False)

    def __post_init__(self) -> None:
        self.classes = Classes(self.facts)
        self.constructors = Constructors(self.facts, self.classes)

    def problems(self, function: cst.FunctionDef) -> list[Problem]:
        """What the function's own text does that cannot be staged; its callees are not looked at."""
        if function not in self._problems:
            self._problems[function] = list(self._find(function))
        return self._problems[function]

    def callees(self, function: cst.FunctionDef) -> dict[cst.FunctionDef, cst.CSTNode]:
        """The functions, methods and properties of this module that it runs, each with one place."""
        found: dict[cst.FunctionDef, cst.CSTNode] = {}
        for node in staged_parts(function):
            for callee in self._callees_at(node):
                found.setdefault(callee, node)
        return found

    def _callees_at(self, node: cst.CSTNode) -> Iterator[cst.FunctionDef]:
        if isinstance(node, cst.Call):
            callee = self.module_function(node.func)
            yield from [callee] if callee is not None else self.constructors.run_by(node.func)
        yield from self.classes.called(node)

    def module_function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """The top-level function that a name certainly is."""
        if not isinstance(node, cst.Name):
            return None
        owner = self.facts.scopes.of(node).owner_of(node.value)
        if owner is None or not owner.is_module:
            return None
        bindings = owner.bindings[node.value]
        only = bindings[0] if len(bindings) == 1 else None
        return only if isinstance(only, cst.FunctionDef) else None

    # -- one function ---------------------------------------------------------------------------------------

    def _find(self, function: cst.FunctionDef) -> Iterator[Problem]:
        if function.asynchronous is not None:
            yield Problem(function, "is a coroutine")
        for default in (param.default for param in _every_param(function.params)):
            if (
                default is not None
                and self.facts.kinds.kind(default) is Kind.CONTAINER
                and not _is_tuple(default)
            ):
                yield Problem(default, "has a mutable default, which staging would share")
        for statement in block(function.body):
            yield from self._below(statement, function, in_message=False)

    def _below(self, node: cst.CSTNode, function: cst.FunctionDef, in_message: bool) -> Iterator[Problem]:
        yield from self._one(node, function, in_message)
        message = in_message or isinstance(node, (cst.Raise, cst.Assert))
        for child in children(node):
            if isinstance(child, cst.ExceptHandler):
                # It only ever runs on the host.
                yield from (
                    Problem(part, _STATEMENTS[type(part)])
                    for part in walk(child)
                    if type(part) in _STATEMENTS and not isinstance(part, cst.With)
                )
            else:
                yield from self._below(child, function, message)

    def _one(self, node: cst.CSTNode, function: cst.FunctionDef, in_message: bool) -> Iterator[Problem]:
        reason = _STATEMENTS.get(type(node))
        if reason is not None and not self.is_errstate(node):
            yield Problem(node, reason)
        elif isinstance(node, (cst.Assign, cst.AugAssign, cst.AnnAssign, cst.For)):
            for part, reason in store_problems(node, function, self.facts, self.classes):
                yield Problem(part, reason)
        elif isinstance(node, cst.Call) and not in_message:
            reason = self._call(node, function)
            if reason is not None:
                yield Problem(node, reason)
        elif isinstance(node, cst.FormattedString) and not in_message:
            if not Texts(function, self.facts).is_shown(node):
                yield Problem(node, "builds text for something other than printing or returning it")
        elif isinstance(node, cst.Try):
            found = hidden(node, function, self.facts, self._callees_at)
            if found is not None:
                yield Problem(*found)
        elif isinstance(node, cst.GeneratorExp) and not isinstance(self.facts.parents[node], cst.Arg):
            yield Problem(node, "keeps a generator")
        elif isinstance(node, cst.Name) and node.value == "print" and self._is_handed_on(node):
            yield Problem(node, "hands on `print`")
        elif isinstance(node, cst.Name) and self._is_unstable(node):
            yield Problem(node, f"reads `{node.value}`, a name of the module that changes")
        elif isinstance(node, cst.FunctionDef) and node.decorators:
            yield Problem(node, "decorates an inner function")
        elif isinstance(node, cst.Return) and isinstance(node.value, cst.Lambda):
            yield Problem(node, "returns a function")

    def is_errstate(self, node: cst.CSTNode) -> bool:
        """`with np.errstate(...)` that raises nothing: a graph gives no floating-point warnings."""
        if not isinstance(node, cst.With):
            return False
        calls = [item.item for item in node.items if isinstance(item.item, cst.Call) and item.asname is None]
        named = [self.facts.imports.qualified(call.func) for call in calls]
        modes = [arg.value for call in calls for arg in call.args]
        if not all(isinstance(mode, cst.SimpleString) and mode.value[1:-1] in _QUIET for mode in modes):
            return False
        return len(named) == len(node.items) and set(named) == {"numpy.errstate"}

    def _call(self, node: cst.Call, function: cst.FunctionDef) -> str | None:
        """Why a call cannot be staged."""
        qualified = self.facts.imports.qualified(node.func)
        if qualified is not None:
            return _numpy_reason(qualified)
        if self.constructors.makes(node.func):
            return None
        if isinstance(node.func, cst.Attribute):
            return self._method(node, node.func, function)
        if isinstance(node.func, cst.Name):
            return self._named(node, node.func)
        return f"calls `{self.facts.code(node.func)}`, whose effects are unknown"

    def _named(self, node: cst.Call, func: cst.Name) -> str | None:
        name, scopes = func.value, self.facts.scopes
        owner = scopes.of(func).owner_of(name)
        if owner is None:
            if name == "print":
                return print_problem(self.facts, node)
            known = name in _BUILTINS or name in _EXCEPTIONS or (name == "super" and not node.args)
            return None if known else f"calls `{name}`, whose effects are unknown"
        bindings = owner.bindings[name]
        if owner.is_module:
            if self.module_function(func) is not None or self._is_math(bindings):
                return None
            return f"calls `{name}`, whose effects are unknown"
        if any(isinstance(binding, cst.Param) for binding in bindings):
            return f"calls its parameter `{name}`, whose effects are unknown"
        if all(isinstance(binding, cst.FunctionDef) or self._is_lambda(binding) for binding in bindings):
            return None
        return f"calls `{name}`, whose effects are unknown"

    def _method(self, node: cst.Call, func: cst.Attribute, function: cst.FunctionDef) -> str | None:
        if self.classes.called(func):
            return None
        path, method = dotted(func), func.attr.value
        base = func.value
        if path is not None and isinstance(root_of(func), cst.Name):
            root = root_of(func)
            assert isinstance(root, cst.Name)
            owner = self.facts.scopes.of(root).owner_of(root.value)
            if owner is not None and owner.is_module and self._is_import(owner.bindings[root.value]):
                return (
                    None
                    if self._is_math(owner.bindings[root.value])
                    else f"calls `{path}`, whose effects are unknown"
                )
        if method in GROWS:
            name = base if isinstance(base, cst.Name) else None
            own = (
                name is not None
                and is_own(name, function, self.facts)
                and name.value not in parameters(function.params)
            )
            return None if own else f"changes `{self.facts.code(base)}`, which is not its own"
        if method in _NEEDS_VALUE:
            return f"needs the value of `{self.facts.code(node)}` while it runs"
        rule = rules.find(f"numpy.ndarray.{method}")
        if method in _READS or method in DRAWS or (rule is not None and rule.kind == "native"):
            return None
        return f"calls `{self.facts.code(func)}`, whose effects are unknown"

    def _is_import(self, bindings: list[cst.CSTNode]) -> bool:
        return any(isinstance(binding, cst.ImportAlias) for binding in bindings)

    def _is_math(self, bindings: list[cst.CSTNode]) -> bool:
        if len(bindings) != 1 or not isinstance(bindings[0], cst.ImportAlias):
            return False
        around = self.facts.parents[bindings[0]]
        name = dotted(around.module) if isinstance(around, cst.ImportFrom) else dotted(bindings[0].name)
        return name == "math"

    def _is_lambda(self, binding: cst.CSTNode) -> bool:
        target = self.facts.parents[binding]
        assign = self.facts.parents[target] if target is not None else None
        return isinstance(assign, cst.Assign) and isinstance(assign.value, cst.Lambda)

    def _is_handed_on(self, node: cst.Name) -> bool:
        """Whether a builtin is used otherwise than by calling it."""
        up = self.facts.parents[node]
        called = isinstance(up, cst.Call) and node is up.func
        named = isinstance(up, cst.Attribute) or (isinstance(up, cst.Arg) and node is up.keyword)
        return not called and not named and self.facts.scopes.of(node).owner_of(node.value) is None

    def _is_unstable(self, node: cst.Name) -> bool:
        """Whether a name is a variable of the module that some code of the file changes after binding it."""
        if self._unstable is None:
            self._unstable = set(changed_globals(self.facts))
        if node.value not in self._unstable:
            return False
        owner = self.facts.scopes.of(node).owner_of(node.value)
        return owner is not None and owner.is_module


def _numpy_reason(qualified: str) -> str | None:
    if qualified == "numpy.errstate":
        return None
    rule = rules.find(qualified)
    base, _, method = qualified.rpartition(".")
    if rule is None and method in ("outer", "reduce", "accumulate", "reduceat"):
        rule = rules.find(base)
    if rule is None:
        return f"calls `{qualified}`, which np2tf does not know"
    if rule.random:
        return None if method in DRAWS else f"draws random numbers with `{qualified}`"
    if rule.kind == "no" or rule.chapter == "io":
        return f"calls `{qualified}`, which has no place in a graph"
    if rule.kind == "host" and not rule.new_name:
        return f"calls `{qualified}`, which runs on the host"
    return None


def _every_param(params: cst.Parameters) -> list[cst.Param]:
    return [*params.posonly_params, *params.params, *params.kwonly_params]


def _is_tuple(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Tuple)
