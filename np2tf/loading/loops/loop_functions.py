"""Makes the loops of functions and modules into functions, for on-stack replacement."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from np2tf.loading.loops.array_work import ArrayWork
from np2tf.loading.loops.names import (
    CLOSURES,
    OF_THE_FRAME,
    OF_THE_MODULE,
    REFUSED_NODES,
    count_loads,
    functions_of,
    functions_off,
    globals_of_functions,
    is_bound_before_read,
    is_bound_first,
    is_private,
    jumps,
    parameters_of,
    stored_names,
    walk,
)
from np2tf.loading.loops.regions import (
    Statements,
    acts_always,
    names_in_order,
    names_in_texts,
    regions_in,
    text_of_region,
)
from np2tf.staging.host.watched_loops import EXITS_SUFFIX, MODULE, REGION, WITH_EXITS, LoopFunction
from np2tf.staging.tiers import constants
from np2tf.translator.sources.python_trees import DEFINITIONS, own_statements

# -- items ---------------------------------------------------------------------------------------------------
# The iterables of a `for` besides ranges: arrays, and `enumerate`, `zip` and `reversed` of arrays.
#
# As a function, the loop counts, and indexes its elements:
#
#     for i, v in enumerate(x):      for _np2tf_k in range(_np2tf_start, _np2tf_stop):
#         s += i * v                     i, v = (_np2tf_k, _np2tf_items_0[_np2tf_k])
#                                        s += i * v

ITEMS, COUNTER = "_np2tf_items_", "_np2tf_k"
_Loop = ast.For | ast.While
_AnyLoop = TypeVar("_AnyLoop", bound=_Loop)


class Items(NamedTuple):
    """The elements of a loop.

    Attributes:
        kind: "items", "enumerate", "zip", "enumerate zip" or "reversed".
        arrays: the number of arrays that they come from.
    """

    kind: str
    arrays: int

    @property
    def text(self) -> str:
        """The source of an expression for the element of an iteration."""
        elements = [f"{ITEMS}{k}[{COUNTER}]" for k in range(self.arrays)]
        if self.kind == "reversed":
            return f"{ITEMS}0[-1 - {COUNTER}]"
        element = f"({', '.join(elements)},)" if self.kind.endswith("zip") else elements[0]
        return f"({COUNTER}, {element})" if self.kind.startswith("enumerate") else element


def items_of(loop: ast.For) -> Items | None:
    """Return the kind of a loop's iterable; None if it is certainly no array."""
    if not _is_clear(loop):
        return None
    call = _builtin_call(loop.iter)
    if call is None:
        return None if isinstance(loop.iter, _NO_ARRAYS) else Items("items", 1)
    name, arguments = call
    if name == "enumerate" and len(arguments) == 1:
        inner = _builtin_call(arguments[0])
        if inner is None:
            return Items("enumerate", 1)
        return Items("enumerate zip", len(inner[1])) if inner[0] == "zip" and inner[1] else None
    if name == "zip" and arguments:
        return Items("zip", len(arguments))
    return Items("reversed", 1) if name == "reversed" and len(arguments) == 1 else None


#: Expressions whose values are no arrays.
_NO_ARRAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.Constant, ast.GeneratorExp, ast.ListComp)
#: Builtins whose results are no arrays.
_BUILTINS = frozenset({"enumerate", "zip", "reversed", "range", "map", "filter", "sorted", "list", "open"})


def _builtin_call(node: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """Return the builtin that an expression calls, and its arguments, which are empty if they are not
    clear.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in _BUILTINS:
        return None
    clear = not node.keywords and not any(isinstance(argument, ast.Starred) for argument in node.args)
    return node.func.id, node.args if clear else []


def _is_clear(loop: ast.For) -> bool:
    """Return whether a loop binds only names, and its header and its body are on lines of their own."""
    header = loop.iter.end_lineno or 0
    if loop.target.lineno != loop.target.end_lineno or loop.body[0].lineno <= header:
        return False
    parts = (node for node in ast.walk(loop.target) if isinstance(node, ast.expr))
    return all(isinstance(node, (ast.Name, ast.Tuple)) for node in parts)


# -- text ----------------------------------------------------------------------------------------------------
# The text of a loop as a function, which begins at the line of the loop.
#
#     for i in range(n):             def …(x, i, _np2tf_start, _np2tf_stop):
#         x = step(x, i)                 for i in range(_np2tf_start, _np2tf_stop):
#                                            x = step(x, i)
#                                        return (x, i,)
#
#     while norm(x) > 1:             def …(x, _np2tf_rounds):
#         x = x / 2                      while _np2tf_rounds > 0 and (norm(x) > 1):
#                                            _np2tf_rounds -= 1
#                                            x = x / 2
#                                        return (x, _np2tf_rounds > 0,)
#
# If the loop can break, the function also returns whether it did. A `return` becomes an exception, which
# discards the compiled call: the host then runs the last iterations in the original loop, and returns from
# there.
#
# A statement that only Python can run, under a condition, becomes a side exit: the function ends where the
# condition holds, and Python runs the rest of that iteration (`np2tf.loading.loops.watched_code`).
#
#     for i in range(n):             def …(x, i, _np2tf_start, _np2tf_stop):
#         x = step(x, i)                 _np2tf_exit = 0
#         if i % 100 == 0:               for i in range(_np2tf_start, _np2tf_stop):
#             plot(x)                        x = step(x, i)
#                                            if i % 100 == 0:
#                                                _np2tf_exit = 1; break
#                                        return (x, i, i, _np2tf_exit,)

START, STOP, STEP = "_np2tf_start", "_np2tf_stop", "_np2tf_step"
ROUNDS, IS_OVER, EXIT = "_np2tf_rounds", "_np2tf_is_over", "_np2tf_exit"
_INDENTATION = "    "
#: Line ends that would be counted in another way, and the byte order mark.
OTHER_ENDS = ("\r", "\f", "\ufeff")


class LoopText:
    """The lines of a loop in a file with these lines; they can be changed."""

    def __init__(self, lines: list[str], loop: ast.For | ast.While) -> None:
        last = loop.body[-1].end_lineno
        assert last is not None
        self._loop = loop
        self._first = loop.lineno
        # The bytes of each line, and its line in the file.
        self._rows = [(lines[k - 1].rstrip("\n").encode(), k) for k in range(loop.lineno, last + 1)]
        self._prefix = self._rows[0][0][: loop.col_offset].decode()

    def replace(self, node: ast.expr | ast.stmt, text: str, close: str = "") -> None:
        """Replace a node by a text over as many lines, of which the last begins with `close`."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        first, last = node.lineno - self._first, node.end_lineno - self._first
        before = self._rows[first][0][: node.col_offset]
        behind = self._rows[last][0][node.end_col_offset :]
        for k in range(first, last + 1):
            self._rows[k] = b"", self._rows[k][1]
        if first == last:
            self._rows[first] = before + (text + close).encode() + behind, self._rows[first][1]
        else:
            self._rows[first] = before + text.encode(), self._rows[first][1]
            self._rows[last] = (close.encode() + behind if close else b""), self._rows[last][1]

    def put_around(self, node: ast.expr, before: str, behind: str) -> None:
        """Insert texts before and behind a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        self._insert(node.end_lineno, node.end_col_offset, behind)
        self._insert(node.lineno, node.col_offset, before)

    def _insert(self, line: int, column: int, text: str) -> None:
        row, number = self._rows[line - self._first]
        self._rows[line - self._first] = row[:column] + text.encode() + row[column:], number

    def text_of(self, node: ast.expr) -> str:
        """Return the text of a node that is on one line."""
        row, _ = self._rows[node.lineno - self._first]
        return row[node.col_offset : node.end_col_offset].decode()

    def begin_iterations(self, *statements: str) -> None:
        """Insert statements at the beginning of the loop's body. No other change is possible afterwards."""
        first = self._loop.body[0]
        k = first.lineno - self._first
        indentation = self._rows[k][0][: first.col_offset]
        self._rows[k:k] = [(indentation + statement.encode(), first.lineno) for statement in statements]

    def function(self, head: str, begin: list[str], end: list[str]) -> tuple[str, tuple[int, ...]]:
        """Return a function's text, with statements around the loop, and the file's lines for its lines."""
        indentation = "" if self._prefix else _INDENTATION
        rows = [(head, self._first)]
        around = self._prefix or _INDENTATION
        rows += [(around + begin_line, self._first) for begin_line in begin]
        rows += [(indentation + row.decode(), number) for row, number in self._rows]
        rows += [(around + end_line, self._first) for end_line in end]
        return "\n".join(text for text, _ in rows) + "\n", tuple(number for _, number in rows)


def can_be_moved(loop: ast.For | ast.While) -> bool:
    """Return whether a loop's text keeps its meaning when it is indented further."""
    texts = [node for node in ast.walk(loop) if isinstance(node, (ast.Constant, ast.JoinedStr))]
    return loop.col_offset > 0 or all(text.lineno == text.end_lineno for text in texts)


def binds(test: ast.expr) -> bool:
    """Return whether a test binds a name, which every iteration must then bind."""
    return any(isinstance(node, ast.NamedExpr) for node in ast.walk(test))


def function_of(
    lines: list[str],
    loop: ast.For | ast.While,
    items: Items | None,
    name: str,
    parameters: list[str],
    results: list[str],
    exits: tuple[int, ...],
    work: ArrayWork,
) -> tuple[str, tuple[int, ...], str, bool]:
    """Return a loop's text as a function, its lines, the loop's kind, and whether it returns that it is over.

    Args:
        items: the iterable of the loop, if it is no range.
        parameters: the parameters of the function, without the parameters for its first and last iteration.
        exits: the places of the statements of the body at which the function ends.
        work: what works on arrays in the source.
    """
    text = LoopText(lines, loop)
    inside = without_exits(loop, exits, work).body
    breaks = jumps(inside, ast.Break)
    # The loop's `else` stays in the original loop.
    jumps_out: list[tuple[ast.stmt, str]] = [
        (node, "raise StopIteration") for node in walk(inside) if isinstance(node, ast.Return)
    ]
    for k, place in enumerate(exits, 1):
        blocks = _blocks_of_python(loop.body[place], work)
        jumps_out += [(_place_of(block), f"{EXIT} = {k}; break") for block in blocks]
    # The last node comes first, so that text before a node in its line keeps its place.
    for node, jump in sorted(jumps_out, key=lambda pair: (pair[0].lineno, pair[0].col_offset), reverse=True):
        text.replace(node, jump)
    begin: list[str] = []
    end: list[str] = []
    if isinstance(loop, ast.While) and binds(loop.test):
        kind, bounds, over, breaks = "while", [ROUNDS], IS_OVER, False
        begin = [f"{IS_OVER} = True"]
        test = text.text_of(loop.test)
        text.replace(loop.test, "True")
        text.begin_iterations(
            f"if {ROUNDS} <= 0:",
            f"{_INDENTATION}{IS_OVER} = False",
            f"{_INDENTATION}break",
            f"if not ({test}):",
            f"{_INDENTATION}break",
            f"{ROUNDS} -= 1",
        )
    elif isinstance(loop, ast.While):
        kind, bounds = "while", [ROUNDS]
        text.put_around(loop.test, f"{ROUNDS} > 0 and (", ")")
        text.begin_iterations(f"{ROUNDS} -= 1")
        over = f"{ROUNDS} > 0"
    elif items is not None:
        kind, over = items.kind, "False"
        bounds = [*(f"{ITEMS}{k}" for k in range(items.arrays)), START, STOP]
        target = text.text_of(loop.target)
        text.replace(loop.iter, f"range({START}, {STOP}", ")")
        text.replace(loop.target, COUNTER)
        text.begin_iterations(f"{target} = {items.text}")
    else:
        assert isinstance(loop.iter, ast.Call)
        kind = "steps" if len(loop.iter.args) == 3 else "range"
        bounds = [START, STOP, STEP] if kind == "steps" else [START, STOP]
        text.replace(loop.iter, f"range({', '.join(bounds)}", ")")
        over = "False"
    if breaks:
        begin = [f"{IS_OVER} = True"]
        end = ["else:", f"{_INDENTATION}{IS_OVER} = {over}"]
        over = IS_OVER
    tells = breaks or kind == "while"
    flags = [over] if tells else []
    if exits:
        begin.append(f"{EXIT} = 0")
        flags += [ROUNDS if isinstance(loop, ast.While) else text.text_of(loop.target), EXIT]
    end.append(f"return ({''.join(f'{result}, ' for result in [*results, *flags])})")
    head = f"def {name}({', '.join([*parameters, *bounds])}):"
    return *text.function(head, begin, end), kind, tells


# -- side exits ----------------------------------------------------------------------------------------------
# The statements of a loop's body that only Python can run, under conditions.

#: Methods that change an array, and that compiled code can run.
_OF_ARRAYS = frozenset({"fill", "sort", "put", "partition", "setflags", "itemset"})
#: Functions that a condition of a side exit may call: builtins, and functions of NumPy and methods of arrays.
#: They draw no random numbers and have no effects, because the condition is asked twice, by compiled code and
#: then by Python.
_PURE = frozenset({"abs", "len", "min", "max", "int", "float", "round", "bool"})
_PURE_OF_ARRAYS = frozenset(
    {
        "sum",
        "max",
        "min",
        "amax",
        "amin",
        "mean",
        "std",
        "var",
        "any",
        "all",
        "item",
        "abs",
        "absolute",
        "size",
    }
    | {
        "isnan",
        "isfinite",
        "isinf",
        "isclose",
        "allclose",
        "array_equal",
        "mod",
        "remainder",
        "floor",
        "ceil",
    }
    | {"round", "sqrt", "log10", "sign", "norm", "count_nonzero", "logical_and", "logical_or", "logical_not"}
)
_MOST_EXITS = 4


def exits_of(loop: ast.For | ast.While, work: ArrayWork) -> tuple[int, ...]:
    """Return the places, in a loop's body, of the statements at which compiled code may leave it."""
    if isinstance(loop, ast.For) and not (_is_over_range(loop) and isinstance(loop.target, ast.Name)):
        return ()
    if isinstance(loop, ast.While) and binds(loop.test):
        return ()
    places = tuple(k for k, statement in enumerate(loop.body) if _is_exit(statement, work))
    return places if len(places) <= _MOST_EXITS else ()


def _is_exit(statement: ast.stmt, work: ArrayWork) -> bool:
    if not isinstance(statement, ast.If) or not all(_is_pure(test, work) for test in _tests(statement)):
        return False
    return any(_acts(block, work) for block in _blocks(statement))


def _tests(statement: ast.If) -> Iterator[ast.expr]:
    """Yield the tests of an `if` and its `elif`s."""
    yield statement.test
    if len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
        yield from _tests(statement.orelse[0])


def _blocks(statement: ast.If) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of an `if`, of its `elif`s, and of its `else`."""
    yield statement.body
    if len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
        yield from _blocks(statement.orelse[0])
    elif statement.orelse:
        yield statement.orelse


def _acts(block: list[ast.stmt], work: ArrayWork) -> bool:
    """Return whether a block has a statement that may do more than change an array."""
    calls = (node.value for node in walk(block) if isinstance(node, ast.Expr))
    return any(isinstance(call, ast.Call) and _has_effects(call, work) for call in calls)


def _is_pure(test: ast.expr, work: ArrayWork) -> bool:
    """Return whether a test may be asked twice."""
    for node in ast.walk(test):
        name = getattr(node, "attr", getattr(node, "id", None))
        if isinstance(node, ast.NamedExpr) or name in work.own:
            return False
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute):
                known = function.attr in _PURE_OF_ARRAYS
            elif isinstance(function, ast.Name):
                known = function.id in (_PURE_OF_ARRAYS if function.id in work.numpy else _PURE)
            else:
                known = False
            if not known:
                return False
    return True


def _has_effects(call: ast.Call, work: ArrayWork) -> bool:
    """Return whether a call that is a statement may do more than change an array."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in _OF_ARRAYS:
        return False
    return _root(call.func) not in work.numpy


def _root(node: ast.expr) -> str:
    """Return the name in which a chain of attributes begins; empty if it begins in another expression."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def without_exits(loop: _AnyLoop, exits: tuple[int, ...], work: ArrayWork) -> _AnyLoop:
    """Return a loop in which the statements at its side exits do nothing where Python acts."""
    if not exits:
        return loop
    result = copy.deepcopy(loop)
    for place in exits:
        for block in _blocks_of_python(result.body[place], work):
            block[:] = [ast.copy_location(ast.Pass(), block[0])]
    return result


def _blocks_of_python(statement: ast.stmt, work: ArrayWork) -> list[list[ast.stmt]]:
    """Return the blocks of a side exit's statement that Python runs."""
    assert isinstance(statement, ast.If)
    return [block for block in _blocks(statement) if _acts(block, work)]


def _lines_of_python(statement: ast.stmt, work: ArrayWork) -> Iterator[int]:
    """Yield the lines of the blocks that Python runs."""
    for block in _blocks_of_python(statement, work):
        yield from range(block[0].lineno, (block[-1].end_lineno or block[-1].lineno) + 1)


def _place_of(block: list[ast.stmt]) -> ast.stmt:
    """Return a node with the place of a block."""
    place = ast.copy_location(ast.Pass(), block[0])
    place.end_lineno, place.end_col_offset = block[-1].end_lineno, block[-1].end_col_offset
    return place


# -- functions -----------------------------------------------------------------------------------------------
# Makes the loops of functions and modules into functions, for on-stack replacement.
#
# A loop that takes long on the host continues as compiled code (`np2tf.staging.host.replacement`). The
# names that the loop reads and carries are the parameters of its function; the names that are read behind
# it are the results. `np2tf.loading.loops.watched_code` makes the code in which the loop is watched.

#: Statements that bind names which are no variables.
_NO_VARIABLES = (*DEFINITIONS, ast.Import, ast.ImportFrom)
#: The place of a loop -> its function.
Loops = dict[tuple[int, int], LoopFunction]


def loops_of(source: ast.Module, text: str, path: str, work: ArrayWork) -> Loops:
    """Return the loops of a module that can become functions."""
    loops: Loops = {}
    for finder in _finders(source, text, path, work):
        loops |= finder.loops(len(loops))
    return loops


def obstacles_of(
    source: ast.Module, text: str, path: str, work: ArrayWork
) -> dict[tuple[int, int], tuple[str, int]]:
    """Return why the other loops of a module cannot become functions, by their places: the reason, as the
    rest of "it …", and its line.
    """
    obstacles: dict[tuple[int, int], tuple[str, int]] = {}
    for finder in _finders(source, text, path, work):
        obstacles |= finder.obstacles()
    return obstacles


def _finders(source: ast.Module, text: str, path: str, work: ArrayWork) -> Iterator[_LoopFinder]:
    if any(end in text for end in OTHER_ENDS):
        return
    lines = [f"{line}\n" for line in text.split("\n")]
    kinds = Statements(source, path, work)
    off = functions_off(source, text)
    for function, in_class in functions_of(source.body):
        if isinstance(function, ast.FunctionDef) and function.lineno not in off:
            yield _FunctionLoopFinder(function, in_class, lines, path, kinds)
    if not _names_in(source) & OF_THE_MODULE:
        yield _ModuleLoopFinder(source, text, lines, path, kinds)


class _LoopFinder:
    """Finds the loops of a body, and which of them can become functions."""

    #: The variables of the body.
    _variables: set[str]

    def __init__(
        self,
        body: list[ast.stmt],
        of: str,
        lines: list[str],
        path: str,
        kinds: Statements,
    ) -> None:
        self._body, self._of, self._lines, self._path = body, of, lines, path
        self._kinds, self._work = kinds, kinds.work
        self._loads = count_loads(body)

    def _every_loop(self) -> Iterator[tuple[_Loop, str]]:
        """Yield the loops, and why each cannot become a function; an empty text if it can."""
        for loop in own_statements(self._body):
            if isinstance(loop, (ast.For, ast.While)):
                yield loop, _obstacle_in(loop) or self._obstacle_around(loop)

    def obstacles(self) -> dict[tuple[int, int], tuple[str, int]]:
        """Return why loops cannot become functions, by their places, each with the line of the reason."""
        return {
            (loop.lineno, loop.col_offset): (why, _line_of_obstacle(loop))
            for loop, why in self._every_loop()
            if why
        }

    def loops(self, first: int) -> Loops:
        """Return the loops' functions, by the places of the loops; their numbers begin at `first`."""
        loop_functions: Loops = {}
        for loop, obstacle in self._every_loop():
            if not obstacle:
                number = first + len(loop_functions)
                loop_function = self._make_function(loop, number)
                if exits := exits_of(loop, self._work):
                    variant = self._make_function(loop, number, exits)
                    loop_function = loop_function._replace(with_exits=variant)
                if runs := regions_in(loop, self._kinds, self._lines):
                    regions = (self._make_region(loop, run, number, k) for k, run in enumerate(runs))
                    always = acts_always(loop, self._kinds)
                    loop_function = loop_function._replace(regions=tuple(regions), acts_always=always)
                loop_functions[loop.lineno, loop.col_offset] = loop_function
        return loop_functions

    def _obstacle_around(self, loop: _Loop) -> str:
        """Return why the loop does not keep its meaning as a function; an empty text if it does."""
        raise NotImplementedError

    def _names(self, loop: _Loop) -> tuple[set[str], set[str]]:
        """Return the names that the loop's function takes, and the names that it returns."""
        raise NotImplementedError

    def _make_function(self, loop: _Loop, number: int, exits: tuple[int, ...] = ()) -> LoopFunction:
        name = f"_np2tf_loop_{number}{EXITS_SUFFIX if exits else ''}"
        inside = without_exits(loop, exits, self._work)
        inputs, outputs = self._names(inside)
        if exits:
            # Python goes on in the middle of an iteration, and may change what the next iterations read.
            outputs |= stored_names(inside.body) & set(count_loads(inside.body[exits[0] :]))
            outputs |= stored_names([loop]) & inputs
        parameters, results = sorted(inputs | outputs), sorted(outputs)
        items = None if isinstance(loop, ast.While) or _is_over_range(loop) else items_of(loop)
        text, lines, kind, tells = function_of(
            self._lines, loop, items, name, parameters, results, exits, self._work
        )
        key = f"{self._path}:{loop.lineno}:{loop.col_offset}{WITH_EXITS if exits else ''}"
        names = tuple(parameters), tuple(results)
        says_numpy = self._work.is_in(loop)
        count = items.arrays if items is not None else 0
        return LoopFunction(
            key,
            name,
            self._of,
            text,
            lines,
            *names,
            kind,
            tells,
            count,
            says_numpy,
            _distance(loop.test) if isinstance(loop, ast.While) else "",
            exits,
            tuple(line for place in exits for line in _lines_of_python(loop.body[place], self._work)),
            breaks=jumps(inside.body, ast.Break),
            rebound=_rebound(loop, results, exits),
        )

    def _make_region(self, loop: _Loop, body: list[ast.stmt], number: int, k: int) -> LoopFunction:
        """Return the function of a run of numerical statements of a loop's body."""
        name = f"_np2tf_loop_{number}_region_{k}"
        read, bound = names_in_order(body)
        inside = count_loads(body)
        outside = {name for name, count in self._loads.items() if count > inside.get(name, 0)}
        inputs = read & self._variables
        outputs = stored_names(body)
        if self._of != MODULE:  # later code may read every name of a module
            outputs &= {*outside, *inputs, *names_in_texts(self._body)}
        # A name that is bound in a branch keeps its value otherwise.
        parameters, results = sorted(inputs | (outputs - bound)), sorted(outputs)
        text, lines = text_of_region(self._lines, body, name, parameters, results)
        return LoopFunction(
            f"{self._path}:{loop.lineno}:{loop.col_offset}{REGION}{k}",
            name,
            self._of,
            text,
            lines,
            tuple(parameters),
            tuple(results),
            "region",
            False,
            says_numpy=self._work.is_in(ast.While(ast.Constant(True), body, [])),
            changing=tuple(sorted(stored_names([loop]).intersection(parameters))),
        )


def _rebound(loop: _Loop, results: list[str], exits: tuple[int, ...]) -> tuple[str, ...]:
    """Return the results whose values before an iteration do not matter.

    They do where no iteration runs, and only with exits a `while` tells how many have run.
    """
    if isinstance(loop, ast.While) and not exits:
        return ()
    end = exits[0] if exits else len(loop.body)
    return tuple(name for name in results if is_bound_first(name, loop, end))


_OF_DISTANCES = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)


def _distance(test: ast.expr) -> str:
    """Return an expression for what is left of a `while` with such a test; empty if the test shows none."""
    tests = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    for part in tests:
        if isinstance(part, ast.Compare) and len(part.ops) == 1:
            sides = part.left, part.comparators[0]
            if isinstance(part.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)) and all(
                isinstance(node, _OF_DISTANCES) for side in sides for node in ast.walk(side)
            ):
                return f"({ast.unparse(sides[1])}) - ({ast.unparse(sides[0])})"
    return ""


def with_variants(loops: Loops) -> Iterator[LoopFunction]:
    """Yield the functions of loops, the functions with side exits, and those of regions."""
    for loop_function in loops.values():
        yield loop_function._replace(with_exits=None, regions=())
        if loop_function.with_exits is not None:
            yield loop_function.with_exits
        yield from loop_function.regions


class _FunctionLoopFinder(_LoopFinder):
    def __init__(
        self,
        function: ast.FunctionDef,
        in_class: bool,
        lines: list[str],
        path: str,
        kinds: Statements,
    ) -> None:
        super().__init__(function.body, function.name, lines, path, kinds)
        self._in_class = in_class
        self._variables = stored_names(function.body).union(parameters_of(function.args))
        self._shared_names = {
            name.id
            for node in walk(function.body)
            if isinstance(node, CLOSURES)
            for name in ast.walk(node)
            if isinstance(name, ast.Name)
        }
        declarations = (node for node in walk(function.body) if isinstance(node, (ast.Global, ast.Nonlocal)))
        self._outer_names = {name for node in declarations for name in node.names}
        self._asks = not OF_THE_FRAME.isdisjoint(_names_in(function))

    def _obstacle_around(self, loop: _Loop) -> str:
        if self._asks:
            return "is in a function that asks for its variables or its frame"
        if "range" in self._variables:
            return "is in a function that binds `range`"
        if self._in_class and any(map(is_private, _names_in(loop))):
            return "uses a private name (`__name`) of its class"
        bound_names = stored_names([loop])
        if shared_names := bound_names & self._shared_names:
            return f"binds `{min(shared_names)}`, which an inner function, lambda or generator shares"
        if outer_names := bound_names & self._outer_names:
            return f"binds `{min(outer_names)}`, which is declared `global` or `nonlocal`"
        return ""

    def _names(self, loop: _Loop) -> tuple[set[str], set[str]]:
        inside = count_loads([loop], returned=False)
        if isinstance(loop, ast.For):
            of_body = count_loads(loop.body, returned=False)
        else:
            of_body = inside
        inputs = {
            name for name in of_body if name in self._variables and not is_bound_before_read(name, loop)
        }
        outside = {name for name, count in self._loads.items() if count > inside.get(name, 0)}
        outputs = stored_names([loop]) & (outside | inputs)
        if not outputs and isinstance(loop, ast.For):
            outputs = stored_names([loop.target])
        return inputs, outputs


class _ModuleLoopFinder(_LoopFinder):
    def __init__(
        self,
        source: ast.Module,
        text: str,
        lines: list[str],
        path: str,
        kinds: Statements,
    ) -> None:
        super().__init__(source.body, MODULE, lines, path, kinds)
        self._of_functions = globals_of_functions(text, path)
        self._variables = stored_names(
            [statement for statement in source.body if not isinstance(statement, _NO_VARIABLES)]
        )

    def _obstacle_around(self, loop: _Loop) -> str:
        if "range" in self._variables:
            return "is in a module that binds `range`"
        if not can_be_moved(loop):
            return "contains a text over several lines"
        if any(isinstance(node, ast.AnnAssign) for node in ast.walk(loop)):
            return "annotates variables"
        if read_names := stored_names([loop]) & self._of_functions:
            return (
                f"binds `{min(read_names)}`, which functions of the module use: move the loop into a function"
            )
        return ""

    def _names(self, loop: _Loop) -> tuple[set[str], set[str]]:
        # Later code may read every name that the loop binds. The loop may also change the objects that it
        # reads.
        return set(count_loads([loop])) & self._variables, stored_names([loop])


_WORDS: dict[type[ast.AST], str] = {
    ast.Yield: "yields",
    ast.YieldFrom: "yields",
    ast.Await: "awaits",
    ast.AsyncFor: "awaits",
    ast.AsyncWith: "awaits",
    ast.Global: "declares a name `global`",
    ast.Nonlocal: "declares a name `nonlocal`",
    ast.Delete: "deletes something",
    ast.FunctionDef: "defines a function",
    ast.AsyncFunctionDef: "defines a function",
    ast.ClassDef: "defines a class",
    ast.Import: "imports a module",
    ast.ImportFrom: "imports from a module",
    ast.Match: "contains a `match`",
}


def _refused_node(loop: _Loop) -> ast.AST | None:
    """Return a node of the loop that a function made of it must not hold."""
    return next((node for node in ast.walk(loop) if isinstance(node, REFUSED_NODES)), None)


def _line_of_obstacle(loop: _Loop) -> int:
    return getattr(_refused_node(loop), "lineno", loop.lineno)


def _obstacle_in(loop: _Loop) -> str:
    """Return why a loop is of no kind that is watched; an empty text if it is of such a kind."""
    refused_node = _refused_node(loop)
    if refused_node is not None:
        return _WORDS[type(refused_node)]
    nodes = list(ast.walk(loop))
    if any(isinstance(node, ast.ExceptHandler) and node.name for node in nodes):
        return "names an exception that it handles"
    returns = any(isinstance(node, ast.Return) for node in nodes)
    if returns and any(isinstance(node, (ast.Try, ast.With)) for node in nodes):
        return "returns, and contains a `try` or `with`"
    if isinstance(loop, ast.While):
        return _obstacle_in_while(loop)
    if not _is_over_range(loop):
        return "" if items_of(loop) is not None else "runs over something that is no range and no array"
    if not isinstance(loop.target, ast.Name):
        return "counts in something that is no variable"
    return f"has fewer than {constants.SHORT_LOOP} iterations" if _is_tiny(loop.iter) else ""


def _obstacle_in_while(loop: ast.While) -> str:
    if loop.orelse:
        return "has an `else`"
    if loop.body[0].lineno <= (loop.test.end_lineno or 0):
        return "is on one line"
    if loop.test.end_lineno != loop.test.lineno and binds(loop.test):
        return "binds a name in a test over several lines"
    return ""


def _is_over_range(loop: ast.For) -> bool:
    call = loop.iter
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "range"
        and not call.keywords
        and not any(isinstance(argument, ast.Starred) for argument in call.args)
        and 1 <= len(call.args) <= 3
    )


def _is_tiny(call: ast.expr) -> bool:
    """Return whether a range certainly has so few numbers that watching would cost more."""
    try:
        values = [ast.literal_eval(argument) for argument in call.args]  # type: ignore[attr-defined]
        return len(range(*values)) < constants.SHORT_LOOP
    except (ValueError, TypeError, OverflowError):
        return False


def _names_in(node: ast.AST) -> set[str]:
    """Return the names and attributes in a node."""
    nodes = list(ast.walk(node))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
