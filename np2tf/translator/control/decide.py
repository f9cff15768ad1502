"""Decides which constructs of a function are lowered and which stay Python, or why staging is impossible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from np2tf.core.operators import MAX_UNROLL, UNROLL
from np2tf.translator.control import calls as texts
from np2tf.translator.control.calls import Calls, Comprehension, is_super
from np2tf.translator.control.constructs import EXPRESSIONS, SMALL, STATEMENTS
from np2tf.translator.control.lower import lower_function
from np2tf.translator.control.scope import CannotLower, Marks
from np2tf.translator.control.static import Static
from np2tf.translator.control.unlowerable import Refusals, refuse_half_changed
from np2tf.translator.facts.dataflow import (
    Names,
    block,
    bound_targets,
    function_locals,
    loop_head,
    parameters,
    writes,
)
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.texts import is_call
from np2tf.translator.facts.try_blocks import staged_parts
from np2tf.translator.tree.nodes import named_parameters, walk

#: The classes of the nodes that the passes over a function use; most nodes are of other classes.
_RELEVANT_NODES = frozenset({
    cst.Assign, cst.AnnAssign, cst.NamedExpr, cst.AugAssign, cst.CompFor, cst.If, cst.For, cst.While,
    cst.Lambda, cst.FunctionDef, cst.Nonlocal,
})  # fmt: skip
_PLAIN_CALLS = frozenset(
    [
        "sorted",
        "map",
        "filter",
        "items",
        "keys",
        "values",
        "split",
        "ndindex",
        "nditer",
        "ndenumerate",
        "list",
        "tuple",
        "set",
    ]
)
_NO_NAMES: Names = frozenset()
#: The names of arguments that are never arrays, by the convention of NumPy's signatures.
_BY_CONVENTION = frozenset({"axis", "axes", "shape", "dtype", "ndim", "mode", "method"})


@dataclass
class Decision:
    """The constructs of one function to lower: statements in `marks`, expressions by node."""

    marks: Marks = field(default_factory=Marks)
    expressions: list[cst.BaseExpression] = field(default_factory=list)
    builtins: list[cst.Name] = field(default_factory=list)
    """The names `range`, `zip`, `min` … whose operands may be staged: np2tf's own stand in for them."""
    math: list[cst.BaseExpression] = field(default_factory=list)
    """`math.sqrt`, or `sqrt` imported from there, of what may be staged."""
    comprehensions: list[Comprehension] = field(default_factory=list)
    """Comprehensions and generators over arrays and long ranges, which become `np2tf.list_of`."""
    texts: list[tuple[cst.CSTNode, texts.Edit]] = field(default_factory=list)
    """Prints, and text of what may be staged, with what becomes of them."""
    callees: list[cst.BaseExpression] = field(default_factory=list)
    """Callees that we cannot resolve from the source; wrapped in `np2tf.call`."""
    contexts: list[cst.BaseExpression] = field(default_factory=list)
    """Context managers that we cannot resolve from the source; wrapped in `np2tf.context`."""
    supers: list[cst.Call] = field(default_factory=list)
    """`super()`, which means nothing in a helper."""
    handlers: list[cst.ExceptHandler] = field(default_factory=list)
    independent: list[cst.CSTNode] = field(default_factory=list)
    """The loops whose rounds do not need one another, which become `np2tf.map_loop`."""

    @property
    def lowers_text(self) -> bool:
        """True if lowering changes any of the function's text."""
        lists = (self.expressions, self.builtins, self.math, self.comprehensions, self.texts, self.handlers)
        return bool(self.marks.lowered_nodes or self.callees or self.contexts) or any(lists)


def decide(
    function: cst.FunctionDef,
    facts: Facts,
    counters: Names = _NO_NAMES,
    unknown: Sequence[cst.Call] = (),
    methods: Sequence[cst.Call] = (),
) -> Decision:
    """Return the constructs to lower; raise CannotLower if one must be lowered and cannot.

    Tests on `counters`, which count recursive calls, stay Python's. The text does not show the callees of the
    `unknown` calls; `methods` are calls of methods of the module's classes.
    """
    plain: set[cst.CSTNode] = set()
    while True:
        decision = Decider(function, facts, plain, counters, unknown, methods).decide()
        marks = decision.marks.copy()
        try:
            refuse_half_changed(block(function.body), marks)
            lower_function(function, marks)
        except CannotLower as error:
            # A `for` that cannot be lowered for its jumps may still run as Python, unrolled.
            if error.loop is None or error.loop in plain:
                raise
            plain.add(error.loop)
            continue
        decision.independent = [node for node in walk(function) if node in marks.independent]
        decision.callees += [call.func for call in unknown]
        return decision


def decide_calls(function: cst.FunctionDef, facts: Facts, unknown: Sequence[cst.BaseExpression]) -> Decision:
    """Return what a function that is not staged needs where a transform runs it.

    Its control flow stays Python's, and its calls follow derivatives. `unknown` has the callees that the text
    does not show, and functions that are arguments of calls.
    """
    nodes = list(walk(function))
    calls = Calls(facts, Static(facts, function_locals(function)), lambda node: False)
    decision = Decision(
        builtins=[*calls.builtins(nodes), *calls.type_tests(nodes)],
        math=calls.of_math(nodes),
        callees=[*calls.number_types(nodes), *unknown],
        texts=eager_texts(function, facts),
    )
    if decision.lowers_text:
        decision.supers = [node for node in nodes if is_super(facts, node)]  # type: ignore[misc]
    return decision


def eager_texts(function: cst.FunctionDef, facts: Facts) -> list[tuple[cst.CSTNode, texts.Edit]]:
    """Return the strings to lower in a function that a transform runs, each with its edit."""
    static = Static(facts, function_locals(function))
    return list(texts.edits(function, facts, static, walk(function), hidden=True))


class Decider:
    """Decides about one function, and tells constructs the facts about it."""

    def __init__(
        self,
        function: cst.FunctionDef,
        facts: Facts,
        plain: set[cst.CSTNode],
        counters: Names,
        unknown: Sequence[cst.Call],
        methods: Sequence[cst.Call],
    ) -> None:
        self._function = function
        self.counters = counters
        self._facts = facts
        self._plain = plain
        self.static = Static(facts, _dynamic_parameters(function), counters | _number_parameters(function))
        self._refusals = Refusals(function, facts, self.static, unknown, methods, SMALL.keys())
        self._nodes = staged_parts(function)
        """What may run while the function is staged: everything but handlers of exceptions."""

    def decide(self) -> Decision:
        while True:
            decision = self._pass()
            count = len(self.static.dynamic)
            self._spread(decision.marks)
            if len(self.static.dynamic) == count:
                break
        decision.expressions = list(self._expressions())
        calls = Calls(self._facts, self.static, self.may_iterate)
        decision.comprehensions = [node for node in self._nodes if calls.is_list_of(node)]  # type: ignore[misc]
        loops = [node.iter for node in self._nodes if type(node) is cst.For and node in decision.marks]
        loops += [node.for_in.iter for node in decision.comprehensions]
        decision.builtins = [name for loop in loops for name in calls.sequences(loop)]
        decision.builtins += [*calls.builtins(self._nodes), *calls.type_tests(self._nodes)]
        decision.math = calls.of_math(self._nodes)
        decision.callees = calls.number_types(self._nodes)
        decision.handlers = [node for node in walk(self._function) if type(node) is cst.ExceptHandler]
        decision.texts = list(texts.edits(self._function, self._facts, self.static, self._nodes))
        if decision.lowers_text:
            decision.supers = [node for node in self._nodes if is_super(self._facts, node)]  # type: ignore[misc]
        self._check(decision)
        return decision

    def _pass(self) -> Decision:
        """Decide on every construct once, with the dynamic names known so far."""
        decision = Decision()
        for node in self._nodes:
            construct = STATEMENTS.get(type(node)) or SMALL.get(type(node))
            if construct is not None and construct.is_lowered(self, node):
                decision.marks.lowered_nodes.add(node)
            elif type(node) is cst.Match:
                self._check_match(node)
        return decision

    # -- what constructs ask ------------------------------------------------------------------------------

    def reason(self, node: cst.If | cst.While | cst.For) -> str | None:
        """Return the reason against lowering `node`, in words; None if there is none."""
        return self._refusals.reason(node)

    def check(self, node: cst.If | cst.While | cst.For) -> None:
        """Raise CannotLower if `node` contains a part that cannot be lowered."""
        self._refusals.check(node)

    def stays_plain(self, node: cst.For) -> bool:
        """Return whether a loop has been found to stay Python."""
        return node in self._plain

    def is_long_range(self, node: cst.BaseExpression) -> bool:
        """Return whether an expression is a range of more numbers than a loop that stays Python may have."""
        if type(node) is not cst.Call or not is_call(self._facts, node, ("range",)):
            return False
        return not _at_most(MAX_UNROLL, node)

    def _check_match(self, node: cst.Match) -> None:
        """Raise CannotLower if the subject of a `match`, which stays Python's, may be an array's value."""
        guards = [case.guard for case in node.cases if case.guard is not None]
        for part in (node.subject, *guards):
            if not self.static.probably(part) and not self._is_parameter(part):
                raise CannotLower("NP2TF301", node, kind="match", reason="a value that may be an array item")
        patterns = [part for case in node.cases for part in walk(case.pattern)]
        if not self.static(node.subject) and any(map(self._is_of_numbers, patterns)):
            raise CannotLower("NP2TF301", node, kind="match", reason="the class of a number that may vary")

    def _is_of_numbers(self, pattern: cst.CSTNode) -> bool:
        """Return whether a pattern is of a class of numbers, such as `int()`."""
        if type(pattern) is not cst.MatchClass:
            return False
        if getattr(pattern.cls, "value", "") in ("int", "float", "complex", "bool"):
            return True
        imports = self._facts.imports
        name = imports.numpy_name(pattern.cls) or imports.imported_name(pattern.cls) or ""
        return name.partition(".")[0] in ("numpy", "numbers")

    def _is_parameter(self, node: cst.CSTNode) -> bool:
        """Return whether an expression is a parameter that the function does not rebind."""
        if type(node) is not cst.Name:
            return False
        body = block(self._function.body)
        return node.value in parameters(self._function.params) and node.value not in writes(body)

    def is_setting(self, node: cst.BaseExpression) -> bool:
        """Return whether an expression consists of unchanged parameters and their attributes."""
        if type(node) is cst.Attribute:
            return self._is_parameter(node.value) or (
                type(node.value) is cst.Attribute and self.is_setting(node.value)
            )
        if type(node) is cst.UnaryOperation:
            return self.is_setting(node.expression)
        if type(node) is cst.BooleanOperation:
            return self.is_setting(node.left) and self.is_setting(node.right)
        if type(node) is cst.Comparison:
            sides = [node.left, *(part.comparator for part in node.comparisons)]
            return all(self.static(side) or self.is_setting(side) for side in sides)
        return self._is_parameter(node) or self.static(node)

    def may_iterate(self, node: cst.BaseExpression) -> bool:
        """Return whether a loop over `node` may run over an array or many numbers."""
        if isinstance(
            node, (cst.BaseString, cst.Tuple, cst.List, cst.Set, cst.Dict, cst.BaseComp, cst.DictComp)
        ):
            return False
        if type(node) is cst.Call:
            name = (
                node.func.attr.value if type(node.func) is cst.Attribute else getattr(node.func, "value", "")
            )
            if name == "range":
                return not _at_most(UNROLL, node) and not _mentions(node, "ndim")
            if name in ("enumerate", "zip", "reversed") and node.args:
                return all(self.may_iterate(arg.value) for arg in node.args)
            return name not in _PLAIN_CALLS
        return not self.static.is_container(node) and not self.static(node)

    # -- what becomes dynamic ---------------------------------------------------------------------------

    def _spread(self, marks: Marks) -> None:
        dynamic = self.static.dynamic
        for node in (node_of_kind for node_of_kind in self._nodes if type(node_of_kind) in _RELEVANT_NODES):
            if isinstance(node, cst.Assign) and not self.static(node.value):
                for target in node.targets:
                    dynamic.update(bound_targets(target.target))
            elif (
                isinstance(node, (cst.AnnAssign, cst.NamedExpr))
                and node.value
                and not self.static(node.value)
            ) or (isinstance(node, cst.AugAssign) and not self.static(node.value)):
                dynamic.update(bound_targets(node.target))
            elif isinstance(node, cst.CompFor):
                self._target(node.target, node.iter)
            elif isinstance(node, cst.If) and node in marks:
                dynamic.update(writes([node]))
            elif isinstance(node, (cst.For, cst.While)):
                self._loop(node, node in marks)
            elif isinstance(node, (cst.Lambda, cst.FunctionDef)) and node is not self._function:
                dynamic.update(parameters(node.params))
            elif isinstance(node, cst.Nonlocal):
                dynamic.update(item.name.value for item in node.names)

    def _loop(self, node: cst.For | cst.While, lowered: bool) -> None:
        names = writes(block(node.body))
        if lowered:
            loop_variables = names & loop_head(node, _NO_NAMES)
            self.static.dynamic.update(loop_variables)
            if type(node) is cst.For:
                self.static.dynamic.update(bound_targets(node.target))
        elif type(node) is cst.For:
            self._target(node.target, node.iter)

    def _target(self, target: cst.BaseExpression, iterable: cst.BaseExpression) -> None:
        """Record the names that the target of a loop which stays Python makes dynamic."""
        if type(iterable) is cst.Call and type(iterable.func) is cst.Name:
            if iterable.func.value == "range":
                return
            if iterable.func.value == "enumerate" and type(target) is cst.Tuple:
                self.static.dynamic.update(bound_targets(target)[1:])
                return
        if not self.static(iterable):
            self.static.dynamic.update(bound_targets(target))

    # -- expressions ------------------------------------------------------------------------------------

    def _expressions(self) -> Iterator[cst.BaseExpression]:
        for node in self._nodes:
            construct = EXPRESSIONS.get(type(node))
            if construct is not None and construct.is_lowered(self, node):
                yield node  # type: ignore[misc]

    def _check(self, decision: Decision) -> None:
        """Check the tests that cannot be lowered: the `if` of a comprehension."""
        for node in self._nodes:
            if type(node) is not cst.CompIf or self.static(node.test):
                continue
            clause = self._facts.parents[node]
            if clause is None or self._facts.parents[clause] not in decision.comprehensions:
                raise CannotLower("NP2TF306", node)
        self._refusals.check_walrus(decision.expressions)
        self._refusals.check_rebinding([*decision.expressions, *decision.comprehensions])


def _dynamic_parameters(function: cst.FunctionDef) -> Names:
    """Return the parameters that may be arrays or numbers: all except flags and strings."""
    flags = {param.name.value for param in named_parameters(function) if _is_flag(param)}
    return frozenset(parameters(function.params)) - flags


def _number_parameters(function: cst.FunctionDef) -> Names:
    """Return the parameters that are numbers by default value, by annotation, or as the end of a range."""
    every = named_parameters(function)
    ends: set[str] = set()
    for node in walk(function):
        if type(node) is cst.Call and type(node.func) is cst.Name and node.func.value == "range":
            ends.update(arg.value.value for arg in node.args if type(arg.value) is cst.Name)
    numbers = {param.name.value for param in every if _is_number(param) or param.name.value in ends}
    return frozenset(numbers - writes(block(function.body)))


def _is_number(param: cst.Param) -> bool:
    annotation = param.annotation.annotation if param.annotation is not None else None
    if type(annotation) is cst.Name and annotation.value in ("int", "float"):
        return True
    default = param.default.expression if type(param.default) is cst.UnaryOperation else param.default
    return isinstance(default, cst.BaseNumber)


def _is_flag(param: cst.Param) -> bool:
    annotation = param.annotation.annotation if param.annotation is not None else None
    if param.name.value in _BY_CONVENTION:
        return True
    if type(annotation) is cst.Name and annotation.value in ("bool", "str"):
        return True
    if type(param.default) is cst.Name:
        return param.default.value in ("True", "False")
    return type(param.default) is cst.SimpleString


def _at_most(count: int, call: cst.Call) -> bool:
    """Return whether a range visibly has at most `count` numbers: `range(3)`."""
    numbers = [arg.value for arg in call.args]
    if not all(type(number) is cst.Integer for number in numbers):
        return False
    values = [int(number.value, 0) for number in numbers if type(number) is cst.Integer]
    return values[2:] != [0] and len(range(*values)) <= count


def _mentions(node: cst.CSTNode, attribute: str) -> bool:
    return any(type(part) is cst.Attribute and part.attr.value == attribute for part in walk(node))
