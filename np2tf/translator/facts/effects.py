"""The effects of functions, such as stores and context managers: what only computes may be staged."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

import libcst as cst

from np2tf.core import rules
from np2tf.translator.facts.classes import TRANSPARENT, Classes, Constructors, decorators
from np2tf.translator.facts.dataflow import GROWS, VIEWS, block, parameters
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.kinds import Kind
from np2tf.translator.facts.texts import print_problem
from np2tf.translator.facts.try_blocks import hidden_exception, staged_parts
from np2tf.translator.sources.candidates import OF_THE_STACK
from np2tf.translator.tree.nodes import children, has_keyword, named_parameters, root_of, walk, words

# -- class definitions ---------------------------------------------------------------------------------------
# Class definitions inside functions, and whether running a definition has effects.


def is_unused_class(node: cst.CSTNode, function: cst.FunctionDef) -> bool:
    """Return whether defining a class has no effect, and nothing in the function names the class."""
    if type(node) is not cst.ClassDef or node.decorators or node.bases or node.keywords:
        return False
    if any(type(part) in (cst.Call, cst.Await, cst.Yield) for part in _run_by_class(node)):
        return False
    name = node.name.value
    return not any(
        type(part) is cst.Name and part.value == name and part is not node.name for part in walk(function)
    )


def _run_by_class(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the nodes that run when a class is defined: its text without the bodies of its methods."""
    yield node
    for child in children(node):
        yield from () if type(child) is cst.FunctionDef and not child.decorators else _run_by_class(child)


# -- numpy contexts ------------------------------------------------------------------------------------------
# NumPy's context managers, and which of them may be staged.

#: Context managers of NumPy that may be staged.
CONTEXTS = ("numpy.errstate", "numpy.printoptions")
#: Modes of np.errstate that neither raise an error nor call a function.
_QUIET = ("ignore", "warn")


def is_quiet(call: cst.Call) -> bool:
    """Return whether np.errstate neither raises nor calls: a graph reports no floating-point warnings."""
    modes = [arg.value for arg in call.args]
    return all(type(mode) is cst.SimpleString and mode.value[1:-1] in _QUIET for mode in modes)


# -- defaults ------------------------------------------------------------------------------------------------
# Mutable defaults of parameters that a function may change, keep or pass on.

#: Methods that read a container or a string without changing it.
READS = words(
    """
    items keys values get index count join split strip lower upper startswith endswith replace format
    """
)
#: Builtins that only iterate over their argument.
_GOING_THROUGH = words("len enumerate zip sum max min sorted any all")
_READ_CONTEXTS = (cst.Comparison, cst.ComparisonTarget, cst.CompFor, cst.If, cst.For)


def mutable_defaults(function: cst.FunctionDef, facts: Facts) -> Iterator[cst.BaseExpression]:
    """Yield the mutable defaults, shared by all calls, that a call may change, keep or pass on."""
    for param in named_parameters(function):
        default = param.default
        if default is None or type(default) is cst.Tuple:
            continue
        if facts.kinds.kind(default) is Kind.CONTAINER and not _is_only_read(
            param.name.value, function, facts
        ):
            yield default


def _is_only_read(name: str, function: cst.FunctionDef, facts: Facts) -> bool:
    """Return whether the function reads a parameter's contents, and never changes, keeps or passes it on."""
    uses = (node for node in walk(function.body) if type(node) is cst.Name and node.value == name)
    return all(_reads(node, facts) for node in uses)


def _reads(node: cst.Name, facts: Facts) -> bool:
    up = facts.parents[node]
    if type(up) is cst.Attribute and up.value is node:
        return up.attr.value in READS
    if type(up) is cst.Subscript and up.value is node:
        return type(facts.parents[up]) not in (cst.AssignTarget, cst.AugAssign, cst.Del)
    if type(up) is cst.Arg:
        call = facts.parents[up]
        func = call.func if type(call) is cst.Call else None
        return bool(up.star) or (type(func) is cst.Name and func.value in _GOING_THROUGH)
    return isinstance(up, _READ_CONTEXTS)


# -- stores --------------------------------------------------------------------------------------------------
# A function's stores into arrays, containers and objects, and which of them have effects that staging
# cannot see.

Assignment = cst.Assign | cst.AugAssign | cst.AnnAssign | cst.For
#: Attributes that lead from an object to state that it shares with other objects.
_SHARED_ATTRIBUTES = frozenset({"__class__", "__dict__", "__globals__", "__code__", "__defaults__"})
#: Attributes that set the layout if the object is an array.
_LAYOUT = frozenset({"shape", "dtype", "strides"})
_DEFINITIONS = (cst.FunctionDef, cst.ClassDef, cst.ImportAlias)


def store_problems(
    node: Assignment, function: cst.FunctionDef, facts: Facts, classes: Classes
) -> Iterator[tuple[cst.CSTNode, str]]:
    """Yield the targets that an assignment may not store into while staged, each with a reason."""
    targets = [item.target for item in node.targets] if isinstance(node, cst.Assign) else [node.target]
    for part in [leaf for target in targets for leaf in _leaves(target)]:
        reason = None if isinstance(part, cst.Name) else _reason(part, function, facts, classes)
        if reason is not None:
            yield part, reason


def is_own(name: cst.Name, function: cst.FunctionDef, facts: Facts) -> bool:
    """Return whether a name belongs to the function or to a scope inside it."""
    owner = facts.scopes.owner(name)
    inside = facts.scopes.inside(function)
    return owner is not None and any(scope is owner for scope in inside.within())


def _reason(part: cst.CSTNode, function: cst.FunctionDef, facts: Facts, classes: Classes) -> str | None:
    attributes = [link.attr.value for link in _chain(part) if type(link) is cst.Attribute]
    attribute = next((name for name in attributes if name in _SHARED_ATTRIBUTES), None)
    if attribute is not None:
        return f"writes through `{attribute}`"
    root = root_of(part)
    if classes.is_self(root):
        return None
    of_object = any(name not in VIEWS for name in attributes)
    if type(root) is not cst.Name or not is_own(root, function, facts) or _is_defined(root, facts):
        return _elsewhere(root, of_object, facts)
    if type(part) is cst.Attribute and part.attr.value in _LAYOUT:
        return f"sets an attribute that may be an array's `{part.attr.value}`"
    by_text = type(part) is cst.Subscript and not of_object and _string_key(part)
    return (
        "writes to a dict that it was given"
        if by_text and root.value in parameters(function.params)
        else None
    )


def _elsewhere(root: cst.CSTNode, of_object: bool, facts: Facts) -> str:
    if not of_object:
        return "writes to an object that is not its own"
    if type(root) is cst.Name:
        return f"sets an attribute of `{root.value}`, which it neither received nor created"
    return f"sets an attribute of the result of `{facts.code(root)}`"


def _is_defined(root: cst.Name, facts: Facts) -> bool:
    """Return whether a name refers to a function, a class or an import."""
    owner = facts.scopes.owner(root)
    return owner is not None and any(
        isinstance(binding, _DEFINITIONS) for binding in owner.bindings[root.value]
    )


def _chain(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    while isinstance(node, (cst.Attribute, cst.Subscript)):
        yield node
        node = node.value


def _leaves(target: cst.CSTNode) -> list[cst.CSTNode]:
    if isinstance(target, (cst.Tuple, cst.List)):
        return [leaf for element in target.elements for leaf in _leaves(element.value)]
    return [target]


def _string_key(node: cst.Subscript) -> bool:
    index = node.slice[0].slice
    return type(index) is cst.Index and type(index.value) is cst.SimpleString


#: Nodes that go through a generator expression inside them at once.
_GO_THROUGH = (cst.Arg, cst.For, cst.CompFor)


def goes_through(parent: cst.CSTNode | None) -> bool:
    """Return whether the node around a generator expression goes through all of it at once."""
    if type(parent) is cst.Assign:  # x, y = (…)
        return all(isinstance(target.target, (cst.Tuple, cst.List)) for target in parent.targets)
    return isinstance(parent, _GO_THROUGH)


# -- effects -------------------------------------------------------------------------------------------------
# The effects of functions: a function that only computes may be staged.
#
# Such a function touches nothing but arrays, numbers and its own containers, and every effect of it is
# known. This is required because staging runs the function's text once and its graph many times. A
# `Problem` is a reason against staging: a node and a reason in words. A call whose callee the text does not
# show is no problem yet: `np2tf.call` checks the callee while the function is traced.

_BUILTINS = words(
    """
    len range enumerate zip abs min max sum int float bool complex isinstance issubclass tuple list set
    dict frozenset reversed sorted round divmod pow any all map filter slice type hasattr callable str
    repr
    """
)
#: Builtins that read or change state outside of the function.
_IMPURE_BUILTINS = words(
    "open input exec eval compile __import__ breakpoint delattr globals locals vars help exit quit"
)
#: Builtins with effects that are checked only when a trace reaches them, if a test guards the call.
_ACTING_OPENLY = words("open input breakpoint help exit quit")
_EXCEPTIONS = frozenset(
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
)
_STATEMENTS: dict[type[cst.CSTNode], str] = {
    cst.Yield: "is a generator",
    cst.Await: "is a coroutine",
    cst.Global: "rebinds a global name",
    cst.TryStar: "has a try block, whose handlers a graph cannot run",
    cst.ClassDef: "defines a class",
}
#: The nodes that anything can stand against; most are other nodes.
_NODES = frozenset({
    *_STATEMENTS, cst.With, cst.Del, cst.Assign, cst.AugAssign, cst.AnnAssign, cst.For, cst.Call, cst.Try,
    cst.GeneratorExp, cst.Name, cst.FunctionDef, cst.Return,
})  # fmt: skip
#: Expressions that may give a function.
_REFERENCES = (cst.Name, cst.Attribute, cst.Subscript, cst.Call)


class _Callee(Enum):
    """Results of analysing a callee, besides a reason against staging (a string) and None."""

    UNKNOWN = "not resolved from the source"


@dataclass(frozen=True)
class Problem:
    """A reason against staging a function: the node, and the reason as the rest of "it ..."."""

    node: cst.CSTNode
    reason: str


@dataclass
class Effects:
    """The effects of a module's functions. Each function is analysed once."""

    facts: Facts
    _problems: dict[cst.FunctionDef, list[Problem]] = field(default_factory=dict)
    _unknown: dict[cst.FunctionDef, list[cst.Call]] = field(default_factory=dict)
    _passed_arguments: dict[cst.FunctionDef, list[cst.BaseExpression]] = field(default_factory=dict)
    _contexts: dict[cst.FunctionDef, list[cst.BaseExpression]] = field(default_factory=dict)
    _callees: dict[cst.FunctionDef, dict[cst.FunctionDef, cst.CSTNode]] = field(default_factory=dict)
    classes: Classes = field(init=False)
    constructors: Constructors = field(init=False)

    def __post_init__(self) -> None:
        self.classes = self.facts.get(Classes)
        self.constructors = Constructors(self.facts, self.classes)

    def problems(self, function: cst.FunctionDef) -> list[Problem]:
        """Return the reasons against staging in the function's own text; its callees are not analysed."""
        if function not in self._problems:
            self._unknown[function], self._passed_arguments[function], self._contexts[function] = [], [], []
            self._problems[function] = list(self._find(function))
        return self._problems[function]

    def _is_unknown(self, call: cst.Call, function: cst.FunctionDef) -> bool:
        return self._call(call, function) is _Callee.UNKNOWN

    def unknown_calls(self, function: cst.FunctionDef) -> list[cst.Call]:
        """Return the calls in the function's own text whose callees the text does not show."""
        self.problems(function)
        return self._unknown[function]

    def method_calls(self, function: cst.FunctionDef) -> list[cst.Call]:
        """Return the calls of methods of the module's classes in the function's own text."""
        calls = (node for node in walk(function) if type(node) is cst.Call)
        return [call for call in calls if type(call.func) is cst.Attribute and self._methods(call.func)]

    def callees(self, function: cst.FunctionDef) -> dict[cst.FunctionDef, cst.CSTNode]:
        """The functions, methods and properties of this module that it runs, each with one place."""
        callees = self._callees.get(function)
        if callees is None:
            callees = self._callees[function] = {}
            for node in staged_parts(function):
                for callee in self.callees_at(node):
                    callees.setdefault(callee, node)
        return callees

    def calls_of(self, callee: cst.FunctionDef, function: cst.FunctionDef) -> list[cst.CSTNode]:
        """Return the nodes where a function runs another function of the module."""
        return [node for node in staged_parts(function) if callee in self.callees_at(node)]

    def is_under_a_test(self, node: cst.CSTNode, function: cst.FunctionDef) -> bool:
        """Return whether a test decides if an expression is evaluated, so that a trace need not reach it."""
        inner = node
        for up in self.facts.parents.above(node):
            if up is function:
                return False
            if isinstance(up, (cst.If, cst.IfExp)) and inner is not up.test:
                return True
            inner = up
        return False

    def _is_told_when_reached(self, call: cst.Call, function: cst.FunctionDef) -> bool:
        """Return whether `np2tf.call` can report a callee's effect when a trace reaches it under a test."""
        acts = type(call.func) is cst.Name and call.func.value in _ACTING_OPENLY
        is_reportable = acts or self.facts.imports.numpy_name(call.func) is not None
        return is_reportable and self.is_under_a_test(call, function)

    def callees_at(self, node: cst.CSTNode) -> Iterator[cst.FunctionDef]:
        kind = type(node)
        if kind is not cst.Call and kind is not cst.Attribute:
            return
        if type(node) is cst.Call:
            callee = self.module_function(node.func)
            yield from [callee] if callee is not None else self.constructors.run_by(node.func)
        up = self.facts.parents[node]
        if not (type(up) is cst.Call and node is up.func) or self._methods(node):
            yield from self.classes.called_methods(node)

    def _methods(self, node: cst.CSTNode) -> list[cst.FunctionDef]:
        """Return the methods that a call of `node` may run, if none is under a decorator that hides it."""
        methods = self.classes.called_methods(node)
        return [] if any(map(_is_hidden, methods)) else methods

    def handed_on(self, function: cst.FunctionDef) -> list[cst.BaseExpression]:
        """Return functions, unknown to the text, that are passed to a caller of them, such as `map`."""
        self.problems(function)
        return self._passed_arguments[function]

    def contexts(self, function: cst.FunctionDef) -> list[cst.BaseExpression]:
        """Return the context managers of the function's with blocks whose effects the text does not show."""
        self.problems(function)
        return self._contexts[function]

    def _callables_in(self, call: cst.Call) -> Iterator[cst.BaseExpression]:
        """Yield the arguments of a call that the callee will call, if the text does not show their code."""
        full_name = self.facts.imports.numpy_name(call.func)
        rule = rules.find(full_name) if full_name is not None else None
        name = call.func.value if type(call.func) is cst.Name else ""
        builtin = type(call.func) is cst.Name and self.facts.scopes.of(call.func).owner_of(name) is None
        first = (builtin and name in ("map", "filter")) or (rule is not None and rule.calls_first)
        for place, arg in enumerate(call.args):
            keyword = arg.keyword.value if arg.keyword is not None else ""
            is_callback = (first and place == 0) or (builtin and keyword == "key")
            if is_callback and isinstance(arg.value, _REFERENCES) and not self._is_known(arg.value):
                yield arg.value

    def _is_known(self, node: cst.BaseExpression) -> bool:
        """Return whether the text shows a passed-on function: NumPy's, a builtin, or an inner function."""
        full_name = self.facts.imports.numpy_name(node)
        if full_name is not None:
            return rules.against_staging(full_name) is None
        if type(node) is not cst.Name:
            return False
        owner = self.facts.scopes.owner(node)
        if owner is None:
            return node.value == "None" or node.value in _BUILTINS
        return not owner.is_module and all(map(self._is_inner_function, owner.bindings[node.value]))

    def module_function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """Return the top-level function that a name certainly refers to."""
        only = self.facts.scopes.only_binding(node)
        return only if type(only) is cst.FunctionDef and not _is_hidden(only) else None

    # -- one function ---------------------------------------------------------------------------------------

    def _find(self, function: cst.FunctionDef) -> Iterator[Problem]:
        if function.asynchronous is not None:
            yield Problem(function, "is a coroutine")
        for default in mutable_defaults(function, self.facts):
            yield Problem(default, "has a mutable default value, which all compiled calls would share")
        for statement in block(function.body):
            yield from self._below(statement, function)

    def _below(self, top: cst.CSTNode, function: cst.FunctionDef) -> Iterator[Problem]:
        stack = [(top, False)]
        while stack:
            node, in_message = stack.pop()
            kind = type(node)
            if kind is cst.ExceptHandler:
                # A handler only ever runs on the host.
                inside = (part for part in walk(node) if type(part) in _STATEMENTS)
                yield from (Problem(part, _STATEMENTS[type(part)]) for part in inside)
            elif kind is not cst.ClassDef or not is_unused_class(node, function):
                if kind in _NODES:
                    yield from self._problems_of(node, function, in_message)
                elif kind is cst.Attribute and _asks_for_class(node):
                    reason = f"reads `{self.facts.code(node)}`, but can be compiled only with `type(…)`"
                    yield Problem(node, reason)
                in_message = in_message or kind is cst.Raise or kind is cst.Assert
                stack += [(child, in_message) for child in children(node)[::-1]]

    def _problems_of(
        self, node: cst.CSTNode, function: cst.FunctionDef, in_message: bool
    ) -> Iterator[Problem]:
        reason = _STATEMENTS.get(type(node))
        if reason is not None:
            yield Problem(node, reason)
        elif type(node) is cst.With:
            yield from self._with(node, function)
        elif type(node) is cst.Del and type(node.target) is not cst.Name:
            yield Problem(node, "deletes an element or an attribute")
        elif isinstance(node, (cst.Assign, cst.AugAssign, cst.AnnAssign, cst.For)):
            for part, reason in store_problems(node, function, self.facts, self.classes):
                yield Problem(part, reason)
        elif type(node) is cst.Call and not in_message:
            self._passed_arguments[function] += self._callables_in(node)
            verdict = self._call(node, function)
            if isinstance(verdict, str) and self._is_told_when_reached(node, function):
                verdict = _Callee.UNKNOWN
            if isinstance(verdict, str):
                yield Problem(node, verdict)
            elif verdict is not None:
                self._unknown[function].append(node)
        elif type(node) is cst.Try:
            problem = hidden_exception(node, function, self.facts, self.callees_at, self._is_unknown)
            if problem is not None:
                yield Problem(*problem)
        else:
            yield from self._expression(node)

    def _expression(self, node: cst.CSTNode) -> Iterator[Problem]:
        if type(node) is cst.GeneratorExp and not goes_through(self.facts.parents[node]):
            yield Problem(node, "keeps a generator")
        elif type(node) is cst.Name and node.value == "print" and self._is_handed_on(node):
            yield Problem(node, "passes `print` on as a value")
        elif type(node) is cst.FunctionDef and node.decorators:
            yield Problem(node, "decorates an inner function")
        elif type(node) is cst.Return and type(node.value) is cst.Lambda:
            yield Problem(node, "returns a function")

    def _with(self, node: cst.With, function: cst.FunctionDef) -> Iterator[Problem]:
        """Yield the reasons against staging a with block. Unknown managers are checked while tracing."""
        if node.asynchronous is not None:
            yield Problem(node, "has an asynchronous with block")
        for item in node.items:
            call = item.item
            context_name = self.facts.imports.numpy_name(call.func) if type(call) is cst.Call else None
            if context_name not in CONTEXTS:
                self._contexts[function].append(call)
            elif context_name == "numpy.errstate" and not is_quiet(cst.ensure_type(call, cst.Call)):
                yield Problem(
                    node, "makes np.errstate raise or call on floating-point errors, as no graph can"
                )

    def _call(self, node: cst.Call, function: cst.FunctionDef) -> str | _Callee | None:
        """Return why a call cannot be staged; UNKNOWN if the text does not show it; None if it can."""
        full_name = self.facts.imports.numpy_name(node.func)
        if full_name is not None and full_name.startswith("numpy.testing."):
            return _Callee.UNKNOWN
        if full_name is not None:
            return None if full_name in CONTEXTS else rules.against_staging(full_name)
        import_name = self.facts.imports.imported_name(node.func)
        if import_name is not None and import_name.startswith("np2tf.tnp."):  # by an earlier run
            translated_name = f"numpy.{import_name.removeprefix('np2tf.tnp.')}"
            reason = rules.against_staging(translated_name) if rules.find(translated_name) else None
            if reason is not None:
                return reason
        if import_name != "warnings.warn" and has_keyword(node, "stacklevel"):
            return "reports its caller (`stacklevel`)"
        if import_name in OF_THE_STACK:
            return f"inspects the call stack with `{import_name}`"
        if self.constructors.makes(node.func):
            return None
        if type(node.func) is cst.Attribute:
            return self._method(node, node.func, function)
        return self._resolve_callee(node, node.func) if type(node.func) is cst.Name else _Callee.UNKNOWN

    def _resolve_callee(self, node: cst.Call, func: cst.Name) -> str | _Callee | None:
        name, scopes = func.value, self.facts.scopes
        owner = scopes.of(func).owner_of(name)
        if owner is None:
            if name == "print":
                return print_problem(self.facts, node)
            known = name in _BUILTINS or name in _EXCEPTIONS or (name == "super" and not node.args)
            return None if known else self._builtin(name)
        if owner.is_module:
            known = self.module_function(func) is not None or self._is_math(func)
        else:
            known = all(map(self._is_inner_function, owner.bindings[name]))
        return None if known else _Callee.UNKNOWN

    def _builtin(self, name: str) -> str | _Callee:
        """Return the reason against a builtin that has effects; any other unbound name is unknown."""
        return f"calls `{name}`, which has side effects" if name in _IMPURE_BUILTINS else _Callee.UNKNOWN

    def _method(self, node: cst.Call, func: cst.Attribute, function: cst.FunctionDef) -> str | _Callee | None:
        if self._methods(func):
            return None
        base, method = func.value, func.attr.value
        root = root_of(func)
        if any(type(binding) is cst.ImportAlias for binding in self.facts.scopes.top_bindings(root)):
            return None if self._is_math(func) else _Callee.UNKNOWN
        if method in GROWS:
            # If the base is no list of the function's own, the trace checks the object when it is known.
            is_own_object = type(base) is cst.Name and is_own(base, function, self.facts)
            params = parameters(function.params)
            return None if is_own_object and base.value not in params else _Callee.UNKNOWN  # type: ignore[attr-defined]
        rule = rules.find(f"numpy.ndarray.{method}")
        if rule is not None and rule.needs_value:
            return f"needs the value of `{self.facts.code(node)}` while it is traced"
        if method in READS or (rule is not None and rule.kind == "native"):
            return None
        return _Callee.UNKNOWN

    def _is_math(self, func: cst.BaseExpression) -> bool:
        return (self.facts.imports.imported_name(func) or "").startswith("math.")

    def _is_inner_function(self, binding: cst.CSTNode) -> bool:
        if type(binding) is cst.FunctionDef:
            return True
        return type(self.facts.parents.assigned_value(binding)) is cst.Lambda

    def _is_handed_on(self, node: cst.Name) -> bool:
        """Return whether a builtin is used in another way than by calling it."""
        up = self.facts.parents[node]
        called = type(up) is cst.Call and node is up.func
        named = type(up) is cst.Attribute or (type(up) is cst.Arg and node is up.keyword)
        return not called and not named and self.facts.scopes.owner(node) is None


def _asks_for_class(node: cst.CSTNode) -> bool:
    """Return whether an attribute is the class of a value that may be a number."""
    assert type(node) is cst.Attribute
    is_object = type(node.value) is cst.Name and node.value.value in ("self", "cls")
    return node.attr.value == "__class__" and not is_object


def _is_hidden(function: cst.FunctionDef) -> bool:
    """Return whether a decorator may have replaced a function by another object."""
    return any(name not in TRANSPARENT and name != "np2tf.jit" for name in decorators(function))
