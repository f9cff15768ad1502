"""The text of a loop as a function, which begins at the line of the loop.

    for i in range(n):             def …(x, i, _np2tf_start, _np2tf_stop):
        x = step(x, i)                 for i in range(_np2tf_start, _np2tf_stop):
                                           x = step(x, i)
                                       return (x, i,)

    while norm(x) > 1:             def …(x, _np2tf_rounds):
        x = x / 2                      while _np2tf_rounds > 0 and (norm(x) > 1):
                                           _np2tf_rounds -= 1
                                           x = x / 2
                                       return (x, _np2tf_rounds > 0,)

If the loop can break, the function also returns whether it did. A `return` becomes an exception, which
discards the compiled call: the host then runs the last iterations in the original loop, and returns from
there.
"""

from __future__ import annotations

import ast

from np2tf.imports.loops.items import COUNTER, ITEMS, Items
from np2tf.imports.loops.names import jumps

START, STOP, STEP = "_np2tf_start", "_np2tf_stop", "_np2tf_step"
ROUNDS, IS_OVER = "_np2tf_rounds", "_np2tf_is_over"
_INDENTATION = "    "
#: Line ends that would be counted in another way, and the byte order mark.
OTHER_ENDS = ("\r", "\f", "\ufeff")


class LoopText:
    """The lines of a loop, which can be changed.

    Args:
        lines: the lines of the file.
        loop: a statement in the file.
    """

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
        """Return the text of a function that begins with `head`, and the lines of the file for its lines.

        Args:
            head: the first line.
            begin: the statements before the loop.
            end: the statements behind the loop.
        """
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
) -> tuple[str, tuple[int, ...], str, bool]:
    """Return a loop's text as a function, its lines, the loop's kind, and whether it returns that it is over.

    Args:
        lines: the lines of the file.
        loop: a statement in the file.
        items: the iterable of the loop, if it is no range.
        name: the name of the function.
        parameters: the parameters of the function, without the parameters for its first and last iteration.
        results: the results of the function.
    """
    text = LoopText(lines, loop)
    breaks = jumps(loop.body, ast.Break)
    # The loop's `else` stays in the original loop.
    returns = [node for part in loop.body for node in ast.walk(part) if isinstance(node, ast.Return)]
    # The last node comes first, so that text before a node in its line keeps its place.
    for node in sorted(returns, key=lambda jump: (jump.lineno, jump.col_offset), reverse=True):
        text.replace(node, "raise StopIteration")
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
    end.append(f"return ({''.join(f'{result}, ' for result in [*results, *flags])})")
    head = f"def {name}({', '.join([*parameters, *bounds])}):"
    return *text.function(head, begin, end), kind, tells
