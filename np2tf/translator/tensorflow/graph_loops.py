"""Rewrites loops that only compute as functions of their state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import libcst as cst

from np2tf.translator.control import layout
from np2tf.translator.facts.dataflow import block, bound_targets, loop_head, ordered_writes
from np2tf.translator.facts.dataflow import parameters as parameter_names
from np2tf.translator.rewrites.evaluation_order import is_pure_call
from np2tf.translator.tensorflow.model import Edit, Passage, World
from np2tf.translator.tensorflow.numpy_table import CONVERTED, ON_HOST
from np2tf.translator.tensorflow.values import ARRAYS, NUMBERS
from np2tf.translator.tree.nodes import children, walk
from np2tf.translator.tree.templates import Statement, expression, statement

# -- rounds --------------------------------------------------------------------------------------------------
# Writes loops and branches as functions of their state.


def loop_as_function(
    names: Sequence[str], state: Sequence[str], lists: Sequence[str], helper: str, is_first: bool
) -> Edit:
    """`for i in range(n): …` -> `def step(i, x): …` and `(x,) = _for_loop(range(n), step, (x,))`."""
    step, keep_going = names

    def edit(updated_node: cst.For | cst.While) -> cst.FlattenSentinel[Statement]:
        statements: list[Statement] = []
        state_tuple = _tuple(state)
        if isinstance(updated_node, cst.For):
            assert isinstance(updated_node.target, cst.Name)
            parameters = [updated_node.target.value, *state, *lists]
            further = ", {lists}" if lists else ""
            call = expression(
                f"{helper}({{numbers}}, {step}, {{state}}{further})",
                numbers=updated_node.iter,
                state=state_tuple,
                lists=_tuple(lists),
            )
        else:
            parameters = [*state]
            body = [statement("return {value}", value=updated_node.test)]
            statements.append(_function(keep_going, parameters, body, None))
            call = expression(f"{helper}({keep_going}, {step}, {{state}})", state=state_tuple)
        assert isinstance(updated_node.body, cst.IndentedBlock)
        lines = list(cast("Sequence[Statement]", updated_node.body.body))
        lines += [_return(state)]
        statements.append(_function(step, parameters, lines, updated_node.body))
        return _laid_out([*statements, _assignment(state, call)], updated_node.leading_lines, is_first)

    return edit


def branch_as_functions(names: Sequence[str], state: Sequence[str], helper: str, is_first: bool) -> Edit:
    """`if test: …` -> `def then(x): …`, `def otherwise(x): …`, `(x,) = _cond(test, …)`."""
    then, otherwise = names

    def edit(updated_node: cst.If) -> cst.FlattenSentinel[Statement]:
        statements: list[Statement] = []
        for name, owner in ((then, updated_node), (otherwise, updated_node.orelse)):
            body = owner.body if owner is not None else None
            assert body is None or type(body) is cst.IndentedBlock
            lines = list(cast("Sequence[Statement]", body.body)) if body is not None else []
            lines += [_return(state)]
            statements.append(_function(name, state, lines, body))
        call = expression(
            f"{helper}({{test}}, {then}, {otherwise}, {{state}})", test=updated_node.test, state=_tuple(state)
        )
        return _laid_out([*statements, _assignment(state, call)], updated_node.leading_lines, is_first)

    return edit


def _tuple(names: Sequence[str]) -> cst.BaseExpression:
    return expression(layout.tuple_of(names))


def _return(state: Sequence[str]) -> Statement:
    text = ", ".join(state) if len(state) > 1 else layout.tuple_of(state)
    return statement(f"return {text}")


def _assignment(state: Sequence[str], call: cst.BaseExpression) -> Statement:
    target = f"{layout.tuple_of(state)} = " if len(state) == 1 else layout.assignment_target(state)
    return statement(f"{target}{{call}}", call=call)


def _function(
    name: str, parameters: Sequence[str], body: Sequence[Statement], old: cst.IndentedBlock | None
) -> cst.FunctionDef:
    """Return a function definition; its block keeps the comments and the indentation of the old block."""
    block = old.with_changes(body=body) if old is not None else cst.IndentedBlock(body)
    return layout.helper(name, parameters, ()).with_changes(body=block)


def _laid_out(
    statements: Sequence[Statement], leading_lines: Sequence[cst.EmptyLine], is_first: bool
) -> cst.FlattenSentinel[Statement]:
    """Return function definitions with empty lines around each; `leading_lines` stand above the first."""
    first, *statements_behind = statements
    begins = [*leading_lines] if is_first else layout.blank(leading_lines)
    return cst.FlattenSentinel(
        [
            first.with_changes(leading_lines=begins),
            *(statement.with_changes(leading_lines=layout.blank()) for statement in statements_behind),
        ]
    )


# -- loops ---------------------------------------------------------------------------------------------------
# Rewrites loops over arrays as functions of their state, which a helper runs in Python or as one graph.
#
# A loop is rewritten only if its iterations only compute: they print nothing, change no object except the
# lists that they append to, and do not jump. The helper decides at run time whether a graph gives the same
# result (rules/tensorflow/control.py), so this module need not know dtypes and shapes.

#: Expressions that may run other code, or show a value.
_NOT_COMPUTED = (
    *(
        cst.Lambda,
        cst.NamedExpr,
        cst.GeneratorExp,
        cst.FormattedString,
        cst.Await,
        cst.Yield,
        cst.StarredElement,
    ),
    *(cst.BooleanOperation, cst.Not),
)
_SHOW = frozenset(
    {"str", "repr", "print", "format", "float", "int", "bool", "complex", "round", "tolist", "item"}
)
_MOST_ELEMENTS = 8
#: The helpers of what NumPy itself computes, which no graph can contain.
_OF_NUMPY = frozenset({ON_HOST, "_on_host", "_drawn"})


def plan_loops(world: World) -> list[tuple[cst.CSTNode, str]]:
    """Plan the loops of a module whose values have all been followed; return the long loops over arrays that
    stay in Python, with the reasons.
    """
    loops = [node for node in world.passages if isinstance(node, (cst.For, cst.While))]
    staged_loops: set[cst.CSTNode] = set()
    left_loops: dict[cst.CSTNode, str] = {}
    for node in sorted(loops, key=lambda loop: len(list(world.facts.parents.above(loop)))):
        above = set(world.facts.parents.above(node))
        if node in staged_loops or not staged_loops.isdisjoint(above):
            continue
        planner = _Planner(world)
        if planner.loop(node):
            staged_loops.add(node)
            for edited_node, edit, helper in planner.edits:
                world.edit(edited_node, edit, helper)
        elif left_loops.keys().isdisjoint(above) and not _is_short_loop(node) and planner.is_on_arrays(node):
            left_loops[node] = planner.reason(node)
    return [*left_loops.items()]


def _is_short_loop(node: cst.For | cst.While) -> bool:
    """Return whether a loop certainly has few iterations."""
    if not isinstance(node, cst.For):
        return False
    if isinstance(node.iter, (cst.Tuple, cst.List)):
        return True
    args = node.iter.args if isinstance(node.iter, cst.Call) else []
    return bool(args) and all(isinstance(arg.value, cst.Integer) and len(arg.value.value) < 3 for arg in args)


class _Planner:
    """Checks whether an outermost loop can be rewritten, and collects the edits of it and of inner loops."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.facts = world.facts
        self.edits: list[tuple[cst.CSTNode, Edit, str]] = []
        self._lists: tuple[str, ...] = ()
        self._computing: dict[cst.FunctionDef, bool] = {}

    def loop(self, node: cst.For | cst.While, is_inner: bool = False) -> bool:
        """Return whether a loop can be rewritten."""
        passage = self.world.passages.get(node)
        function = passage.frame.function if passage is not None else None
        if passage is None or not isinstance(function, cst.FunctionDef) or node.orelse is not None:
            return False
        if not isinstance(node.body, cst.IndentedBlock) or self._is_in_try(node, function):
            return False
        head_fits = (
            self._counts(node, passage, is_inner) if isinstance(node, cst.For) else self._tests(node, passage)
        )
        live = passage.frame.live.get(node)
        if not head_fits or live is None:
            return False
        body = block(node.body)
        counter = bound_targets(node.target) if isinstance(node, cst.For) else []
        lists = () if is_inner or isinstance(node, cst.While) else self._appended_lists(body, passage)
        state = self._state(node, body, passage, {*counter, *lists}, loop_head(node, live))
        if not state or not live.isdisjoint(counter):
            return False
        before, self._lists = self._lists, lists
        fits = all(self._statement(statement) for statement in body)
        self._lists = before
        if not fits:
            return False
        of_numbers = "_collecting_loop" if lists else "_for_loop"
        helper = of_numbers if isinstance(node, cst.For) else "_while_loop"
        names = [self.world.name(helper_name, node, passage.frame) for helper_name in ("step", "keep_going")]
        edit = loop_as_function(
            names, state, lists, self.world.helper(helper), _is_first(self.facts.parents[node], node)
        )
        self.edits.append((node, edit, helper))
        return True

    def is_on_arrays(self, node: cst.For | cst.While) -> bool:
        """Return whether something in a loop is an operation on arrays."""
        decisions, values = self.world.decisions, self.world.values
        return any(
            (inner_node in decisions and bool(decisions[inner_node].edits))
            or (inner_node in values and values[inner_node].only(*ARRAYS))
            for statement in block(node.body)
            for inner_node in walk(statement)
        )

    def reason(self, node: cst.For | cst.While) -> str:
        """Return why a loop stays in Python."""
        inside = [inner_node for statement in block(node.body) for inner_node in walk(statement)]
        if self.facts.parents.nearest(node, cst.FunctionDef) is None:
            return "it is not in a function"
        if any(map(self._is_on_host, inside)):
            return "NumPy itself computes or draws in it"
        if any(
            isinstance(inner_node, (cst.Break, cst.Continue, cst.Return, cst.Raise)) for inner_node in inside
        ):
            return "it jumps"
        passage = self.world.passages.get(node)
        if isinstance(node, cst.For) and passage is not None and not passage.value.only("range"):
            return "it is not over `range`"
        return "its iterations do more than compute tensors that keep dtype and shape"

    def _is_in_try(self, node: cst.CSTNode, function: cst.FunctionDef) -> bool:
        return self.facts.parents.nearest(node, cst.Try, cst.FunctionDef) is not function

    def _counts(self, node: cst.For, passage: Passage, is_inner: bool) -> bool:
        """Return whether a loop runs over `range`, and its variable only indexes elements."""
        call = node.iter
        if type(node.target) is not cst.Name or type(call) is not cst.Call:
            return False
        builtin = type(call.func) is cst.Name and call.func.value == "range"
        if not builtin or not passage.value.only("range") or not self._computes(call):
            return False
        literal = all(type(arg.value) is cst.Integer for arg in call.args)
        if literal and not is_inner and max(int(arg.value.value) for arg in call.args) < 64:  # type: ignore[attr-defined]
            return False
        return all(self._is_index(name_node) for name_node in _names(block(node.body), node.target.value))

    def _is_index(self, node: cst.CSTNode) -> bool:
        """Return whether a name, possibly with numbers added, is the index of an element."""
        parents = self.facts.parents
        up = parents[node]
        while isinstance(up, (cst.BinaryOperation, cst.UnaryOperation)):
            if not isinstance(up.operator, (cst.Add, cst.Subtract, cst.Minus)):
                return False
            if isinstance(up, cst.BinaryOperation) and not isinstance(
                up.right if up.left is node else up.left, cst.Integer
            ):
                return False
            node, up = up, parents[up]
        return isinstance(up, cst.Index)

    def _tests(self, node: cst.While, passage: Passage) -> bool:
        return passage.value.may(*ARRAYS) and self._computes(node.test)

    def _appended_lists(self, body: Sequence[cst.CSTNode], passage: Passage) -> tuple[str, ...]:
        """Return the lists that each iteration appends to and does not use otherwise."""
        names = []
        for line in body:
            name = _append_to(line)
            value = passage.before.get(name) if name is not None else None
            if value is not None and value.only("list") and name not in names:
                count = len(list(_names(body, str(name))))
                if count == sum(_append_to(line) == name for line in body):
                    names.append(str(name))
        return tuple(names)

    def _state(
        self,
        node: cst.For | cst.While | cst.If,
        body: Sequence[cst.CSTNode],
        passage: Passage,
        own_names: set[str],
        live: frozenset[str],
    ) -> list[str]:
        """Return the names that an iteration passes on; none if one of the names cannot be passed on."""
        variables = [name for name in ordered_writes(body) if name not in own_names]
        state = [name for name in variables if name in passage.before and self._is_bound(name, node, passage)]
        other_names = {*variables, *own_names} - set(state)
        shared_names = {
            name for function, name in self.world.shared_owners if function is passage.frame.function
        }
        if not passage.frame.always_live.isdisjoint({*variables, *own_names}) or not shared_names.isdisjoint(
            variables
        ):
            return []
        if not live.isdisjoint(other_names - set(self._lists) - own_names):
            return []
        for name in state:
            value = passage.before[name]
            if not value.only(*ARRAYS, *NUMBERS) or not value.may(*ARRAYS):
                return []
        return state

    def _is_bound(self, name: str, node: cst.CSTNode, passage: Passage) -> bool:
        """Return whether a name is certainly bound at the beginning of a statement."""
        function = passage.frame.function
        assert type(function) is cst.FunctionDef
        if name in parameter_names(function.params):
            return True
        below: cst.CSTNode = node
        for up in self.facts.parents.above(node):
            if up is function:
                return False
            if type(up) is cst.For and name in bound_targets(up.target):
                return True
            for line in getattr(up, "body", ()) if type(up) is cst.IndentedBlock else ():
                if line is below:
                    break
                if type(line) is cst.SimpleStatementLine and any(
                    type(small) is cst.Assign
                    and name
                    in [
                        target_name
                        for target in small.targets
                        for target_name in bound_targets(target.target)
                    ]
                    for small in line.body
                ):
                    return True
            below = up
        return False

    def _statement(self, node: cst.CSTNode) -> bool:
        if type(node) is cst.SimpleStatementLine:
            return all(self._small(small_statement, node) for small_statement in node.body)
        if type(node) is cst.For and _is_short(node):
            return all(self._statement(inner_statement) for inner_statement in block(node.body))
        if isinstance(node, (cst.For, cst.While)):
            return self.loop(node, is_inner=True)
        return type(node) is cst.If and self._branch(node)

    def _small(self, node: cst.CSTNode, line: cst.CSTNode) -> bool:
        is_write = any(
            place in self.world.decisions and self.world.decisions[place].edits for place in (node, line)
        )
        if type(node) is cst.Assign:
            targets = [assign_target.target for assign_target in node.targets]
            if any(isinstance(part, cst.Attribute) for target in targets for part in _written_places(target)):
                return False
            names = all(
                type(assign_target) is cst.Name or _is_names(assign_target) for assign_target in targets
            )
            return (names or is_write) and self._computes(node.value) and all(map(self._computes, targets))
        if isinstance(node, cst.AugAssign):
            if any(isinstance(part, cst.Attribute) for part in _written_places(node.target)):
                return False
            fits = isinstance(node.target, cst.Name) or is_write
            return fits and self._computes(node.value) and self._computes(node.target)
        if type(node) is cst.Expr:
            name = _append_to(line)
            if name is not None:
                assert type(node.value) is cst.Call
                return name in self._lists and self._computes(node.value.args[0].value)
            call = node.value if type(node.value) is cst.Call else None
            if call is None or not is_write:
                return False
            if any(isinstance(arg.value, cst.Attribute) for arg in call.args[:1]):
                return False
            of_numpy = self.facts.imports.numpy_name(call.func) is not None
            is_method = type(call.func) is cst.Attribute and type(call.func.value) is cst.Name
            is_placed = any(arg.keyword is not None and arg.keyword.value == "out" for arg in call.args)
            if is_placed or self._is_on_host(call):
                return False
            return (of_numpy or is_method) and all(self._computes(arg.value) for arg in call.args)
        return type(node) is cst.Pass

    def _branch(self, node: cst.If) -> bool:
        passage = self.world.passages.get(node)
        if passage is None or type(node.orelse) is cst.If or not self._computes(node.test):
            return False
        body = [*block(node.body), *block(node.orelse)]
        if not all(self._statement(statement) for statement in body):
            return False
        if passage.value.is_plain:
            return True
        live = passage.frame.live.get(node)
        if live is None or type(node.body) is not cst.IndentedBlock:
            return False
        if node.orelse is not None and type(node.orelse.body) is not cst.IndentedBlock:
            return False
        state = self._state(node, body, passage, set(), live)
        if not state:
            return False
        names = [self.world.name(helper_name, node, passage.frame) for helper_name in ("then", "otherwise")]
        is_first = _is_first(self.facts.parents[node], node)
        self.edits.append(
            (node, branch_as_functions(names, state, self.world.helper("_cond"), is_first), "_cond")
        )
        return True

    def _computes(self, node: cst.CSTNode) -> bool:
        """Return whether an expression only computes."""
        for inner_node in walk(node):
            if isinstance(inner_node, _NOT_COMPUTED) or inner_node in self.world.method_runs:
                return False
            decision = self.world.decisions.get(inner_node)
            if decision is not None and (decision.keeps_numpy or CONVERTED in decision.helpers):
                return False
            if self._is_on_host(inner_node):
                return False
            if type(inner_node) is cst.Call:
                name = inner_node.func.attr if type(inner_node.func) is cst.Attribute else inner_node.func
                shows = type(name) is cst.Name and name.value in _SHOW
                if shows or not (is_pure_call(self.facts, inner_node) or self._calls_computing(inner_node)):
                    return False
        return True

    def _is_on_host(self, node: cst.CSTNode) -> bool:
        """Return whether NumPy itself computes a call."""
        decision = self.world.decisions.get(node)
        return decision is not None and not _OF_NUMPY.isdisjoint(decision.helpers)

    def _calls_computing(self, call: cst.Call) -> bool:
        """Return whether a call is of a function of the module that only computes."""
        owner = self.facts.scopes.owner(call.func) if type(call.func) is cst.Name else None
        bindings = owner.bindings[call.func.value] if owner is not None else []  # type: ignore[attr-defined]
        function = bindings[0] if len(bindings) == 1 else None
        if type(function) is not cst.FunctionDef or any(arg.star for arg in call.args):
            return False
        if function in self._computing:
            return self._computing[function]
        self._computing[function] = False  # also where a function calls itself
        summary = self.world.program.summaries.get(function)
        known = summary is not None and not summary.writes and not function.decorators
        fits = known and all(map(self._only_computes, block(function.body)))
        self._computing[function] = fits
        return fits

    def _only_computes(self, node: cst.CSTNode) -> bool:
        """Return whether a statement of a function only computes."""
        if type(node) is cst.SimpleStatementLine:
            return all(map(self._only_computes, node.body))
        if type(node) in (cst.Return, cst.Expr):
            is_text = type(node) is cst.Expr and type(node.value) is cst.SimpleString
            return is_text or (
                type(node) is cst.Return and (node.value is None or self._computes(node.value))
            )
        if type(node) in (cst.Assign, cst.AugAssign):
            line = self.facts.parents[node]
            assert line is not None
            return self._small(node, line)
        if type(node) is cst.If:
            body = [*block(node.body), *block(node.orelse)]
            return self._computes(node.test) and all(map(self._only_computes, body))
        return type(node) is cst.Pass


def _is_names(target: cst.CSTNode) -> bool:
    return isinstance(target, (cst.Tuple, cst.List)) and all(
        type(element) is cst.Element and type(element.value) is cst.Name for element in target.elements
    )


def _is_short(node: cst.For) -> bool:
    """Return whether a loop runs over a short display of items."""
    is_display = isinstance(node.iter, (cst.Tuple, cst.List)) and len(node.iter.elements) <= _MOST_ELEMENTS
    return is_display and node.orelse is None and type(node.body) is cst.IndentedBlock


def _append_to(statement: cst.CSTNode) -> str | None:
    """Return the list of a statement `list.append(value)`; None for other statements."""
    small = statement.body[0] if type(statement) is cst.SimpleStatementLine else None
    call = small.value if type(small) is cst.Expr else None
    if type(call) is not cst.Call or len(call.args) != 1 or len(statement.body) > 1:  # type: ignore[attr-defined]
        return None
    func = call.func
    if type(func) is not cst.Attribute or func.attr.value != "append":
        return None
    return func.value.value if type(func.value) is cst.Name else None


def _names(body: Sequence[cst.CSTNode], name: str) -> Iterator[cst.Name]:
    """Yield the nodes in which statements use a name as a variable."""
    for line in body:
        for node in walk(line):
            for child in children(node):
                is_attribute = type(node) is cst.Attribute and child is node.attr
                is_keyword = type(node) is cst.Arg and child is node.keyword
                if type(child) is cst.Name and child.value == name and not is_attribute and not is_keyword:
                    yield child


def _is_first(above: cst.CSTNode | None, node: cst.CSTNode) -> bool:
    """Return whether a statement is the first of its block."""
    return isinstance(above, cst.IndentedBlock) and above.body[0] is node


def _written_places(target: cst.BaseAssignTargetExpression) -> list[cst.CSTNode]:
    """Return the names and attributes that an assignment to a target binds or writes to."""
    if isinstance(target, (cst.Tuple, cst.List)):
        return [place for element in target.elements for place in _written_places(element.value)]  # type: ignore[arg-type]
    return [target.value if isinstance(target, cst.Subscript) else target]
