"""Gives translated code the lines and columns of the source nodes that it stands for."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

import libcst as cst
from libcst.metadata import CodeRange

from np2tf.translator.facts.positions import positions
from np2tf.translator.pipeline import Result
from np2tf.translator.tree.nodes import children, walk
from np2tf.translator.tree.source import Source

# -- node matching -------------------------------------------------------------------------------------------
# Finds the source node that each node of a translation stands for.
#
# There are three ways, the most reliable first. The rewriter has recorded the source node (`Plan.origins`),
# or has left the node as it was. An expression that lowering quoted (tests, iterables, values of a lowered
# statement) is found by its text. A statement that lowering made stands for the statement that its
# expressions come from.

STATEMENTS = (cst.BaseSmallStatement, cst.BaseCompoundStatement, cst.ExceptHandler, cst.ExceptStarHandler)
BLOCKS = (cst.BaseCompoundStatement, cst.ExceptHandler, cst.ExceptStarHandler)
_TRIVIAL = (cst.Name, cst.SimpleString, cst.BaseNumber, cst.Tuple)
_QUOTED_NODES = (
    *(cst.BaseSmallStatement, cst.BaseCompoundStatement),
    *(cst.IfExp, cst.BooleanOperation, cst.UnaryOperation),
)
_LOOPS: dict[str, type[cst.CSTNode]] = {"for_loop": cst.For, "while_loop": cst.While}


class Matching:
    """The source node for each node of the output, in `sources`."""

    def __init__(
        self, source: cst.Module, output: cst.Module, origins: Mapping[cst.CSTNode, cst.CSTNode]
    ) -> None:
        self.places = positions(source)
        self.sources: dict[cst.CSTNode, cst.CSTNode] = {}
        self._origins = origins
        self._owners = dict(_nodes_with_owner(source, source))
        self._output = output
        self._source = source
        self._loops = [node for node in walk(source) if isinstance(node, (cst.For, cst.While))]
        self._line = 0
        self._visit(output, source)

    # -- by the rewriter's word, and by text -----------------------------------------------------------------

    def _visit(self, node: cst.CSTNode, function: cst.CSTNode) -> None:
        """Match `node` and the nodes below it; `function` is the source's function that is being printed."""
        source = self._match_of(node) or self._inner_function_of(node, function)
        if source is not None:
            self.sources[node] = source
            self._line = max(self._line, self.places[source].start.line)
            if isinstance(source, cst.FunctionDef):
                function, self._line = source, self.places[source].start.line
        elif self._by_text(node, function):
            return
        body = _body(node)
        for child in children(node):
            self._visit(child, function)
        if body:
            self._match_helpers(body)

    def _match_of(self, node: cst.CSTNode) -> cst.CSTNode | None:
        stands_for = self._origins.get(node, node)
        return stands_for if stands_for in self._owners else None

    def _inner_function_of(self, node: cst.CSTNode, function: cst.CSTNode) -> cst.CSTNode | None:
        """Return the source of an inner function that lowering has made anew; it has the same name."""
        if not isinstance(node, cst.FunctionDef):
            return None
        name = node.name.value
        inner = [
            part
            for part in walk(function)
            if part is not function and isinstance(part, cst.FunctionDef) and part.name.value == name
        ]
        return inner[0] if len(inner) == 1 else None

    @cached_property
    def _quoted_expressions(self) -> dict[str, list[tuple[cst.CSTNode, cst.CSTNode]]]:
        """Maps the text of expressions that lowering quotes to pairs of the source node and its node in the
        output.
        """
        became = {old: new for new, old in self._origins.items()}
        quotable: dict[str, list[tuple[cst.CSTNode, cst.CSTNode]]] = {}
        for node in walk(self._source):
            for expression in _quoted_parts(node):
                new = became.get(expression, expression)
                text = self._output.code_for_node(new)
                quotable.setdefault(text, []).append((expression, new))
        return quotable

    def _by_text(self, node: cst.CSTNode, function: cst.CSTNode) -> bool:
        if not isinstance(node, cst.BaseExpression) or isinstance(node, _TRIVIAL):
            return False
        candidates = self._quoted_expressions.get(self._output.code_for_node(node))
        if not candidates:
            return False
        lines = self.places[function]
        inside = [
            (old, new)
            for old, new in candidates
            if lines.start.line <= self.places[old].start.line <= lines.end.line
        ]
        if not inside:
            return False
        ahead = [pair for pair in inside if self.places[pair[0]].start.line >= self._line]
        _, became = (ahead or inside[-1:])[0]
        for output_node, new_node in zip(walk(node), walk(became)):
            source = self._match_of(new_node)
            if source is not None:
                self.sources[output_node] = source
        return True

    # -- statements that were made ---------------------------------------------------------------------------

    def _match_helpers(self, body: Sequence[cst.CSTNode]) -> None:
        """Match helpers and the call that uses them with one statement of the source."""
        run: list[cst.CSTNode] = []
        for statement in body:
            if self._is_known(statement):
                run = []
                continue
            run.append(statement)
            if isinstance(statement, cst.FunctionDef):
                continue
            owner = self._loop_of(run) or next(filter(None, map(self._owner_of, (statement, *run))), None)
            if owner is not None:
                for member in run:
                    smalls = member.body if isinstance(member, cst.SimpleStatementLine) else ()
                    for part in (member, *smalls):
                        self.sources.setdefault(part, owner)
            run = []

    def _is_known(self, statement: cst.CSTNode) -> bool:
        smalls = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
        return all(small in self.sources for small in smalls)

    def _loop_of(self, run: Sequence[cst.CSTNode]) -> cst.CSTNode | None:
        """Return the innermost loop of the source around all nodes of a run, if the run ends in a loop
        operator.
        """
        call = next((node for node in walk(run[-1]) if isinstance(node, cst.Call)), None)
        kind = _LOOPS.get(call.func.attr.value) if call and isinstance(call.func, cst.Attribute) else None
        if kind is None:
            return None
        inside = [node for statement in run for node in walk(statement) if node in self.sources]
        if not inside:
            return None
        first = min(self.places[self.sources[node]].start.line for node in inside)
        last = max(self.places[self._owners[self.sources[node]]].start.line for node in inside)
        statements = {self.sources[node] for node in inside if isinstance(node, STATEMENTS)}
        around = [
            loop
            for loop in self._loops
            if isinstance(loop, kind)
            and loop not in statements
            and self.places[loop].start.line <= first
            and last <= self.places[loop].end.line
        ]
        return around[-1] if around else None

    def _owner_of(self, statement: cst.CSTNode) -> cst.CSTNode | None:
        """Return the source's statement that contains the first known expression of a statement."""
        for node in walk(statement):
            if node in self.sources and isinstance(node, cst.BaseExpression):
                return self._owners[self.sources[node]]
        return None


def _nodes_with_owner(node: cst.CSTNode, owner: cst.CSTNode) -> Iterator[tuple[cst.CSTNode, cst.CSTNode]]:
    """Yield every node below `node` with the innermost statement around it."""
    stack = [(node, owner)]
    while stack:
        node, owner = stack.pop()
        if isinstance(node, STATEMENTS):
            owner = node
        yield node, owner
        stack.extend((child, owner) for child in children(node))


def _quoted_parts(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the expressions of a node that lowering may quote."""
    for name in ("test", "iter", "value", "msg", "left", "right", "body", "orelse", "exc"):
        part = getattr(node, name, None)
        is_quoted = isinstance(node, _QUOTED_NODES) and not isinstance(part, _TRIVIAL)
        if is_quoted and isinstance(part, cst.BaseExpression):
            yield part
    if isinstance(node, cst.Comparison):
        yield node


def _body(node: cst.CSTNode) -> Sequence[cst.CSTNode]:
    return node.body if isinstance(node, (cst.IndentedBlock, cst.Module)) else ()


# -- lines ---------------------------------------------------------------------------------------------------
# Maps translated code to the user's file: the nodes of Python's tree get their places in the source.
#
# The translation is parsed. Each node of Python's tree gets the place of the source node that the libcst
# node at its own place stands for (`np2tf.loading.code.source_lines`), or the place of the code around it.
# Tracebacks, warnings, coverage and debuggers then refer to the user's file.

#: First line, column, last line, column; lines from 1, columns in bytes from 0, as in Python's tree.
Place = tuple[int, int, int, int]


class SourceMap:
    """The places of a translation's nodes in its source."""

    def __init__(self, source: Source, result: Result) -> None:
        """Match `result`, the translation of `source`, with the source. The result must have a tree."""
        output = result.tree
        assert output is not None
        matching = Matching(source.module, output, result.origins)
        self._source = _lines(source.text)
        self._by_range: dict[Place, Place] = {}
        self._by_start: dict[tuple[int, int], Place] = {}
        in_source, in_output = _columns(self._source), _columns(_lines(result.text))
        for node, where in positions(output).items():
            stands_for = matching.sources.get(node)
            if stands_for is None:
                continue
            output_place = _place(where, in_output)
            source_place = _place(matching.places[stands_for], in_source)
            if isinstance(stands_for, BLOCKS):
                source_place = self._header(source_place)
            if isinstance(node, STATEMENTS):
                self._by_start.setdefault(output_place[:2], source_place)
            elif not isinstance(stands_for, BLOCKS):
                self._by_range.setdefault(output_place, source_place)

    def relocate(self, tree: ast.AST, down: int = 0, right: int = 0) -> None:
        """Give every node of the parsed translation its place in the source.

        For text from the middle of a file, `down` and `right` are added to its lines and columns.
        """
        self._visit(tree, (1, 0, 1, 0), down, right)

    def _visit(self, node: ast.AST, around: Place, down: int, right: int) -> None:
        if hasattr(node, "lineno"):
            around = self._of(node, around)
            node.lineno, node.col_offset = max(around[0] + down, 1), around[1] + right  # type: ignore[attr-defined]
            node.end_lineno = max(around[2] + down, 1)  # type: ignore[attr-defined]
            node.end_col_offset = around[3] + right  # type: ignore[attr-defined]
        for child in ast.iter_child_nodes(node):
            self._visit(child, around, down, right)

    def _of(self, node: ast.AST, around: Place) -> Place:
        start = (node.lineno, node.col_offset)  # type: ignore[attr-defined]
        if isinstance(node, (ast.stmt, ast.ExceptHandler)):
            return self._by_start.get(start, around)
        end = (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return self._by_range.get((*start, *end), around)

    def _header(self, place: Place) -> Place:
        """Return the place of a block's first line, which stands for all code made from the block."""
        line, column = place[:2]
        text = self._source[line - 1] if line <= len(self._source) else ""
        return line, column, line, max(column, len(text.rstrip().encode("utf-8", "surrogatepass")))


def _lines(text: str) -> list[str]:
    return re.split("\r\n|\r|\n", text.removeprefix("\ufeff"))


def _columns(lines: list[str]) -> Callable[[int, int], int]:
    """Return a function from columns in characters, as libcst counts, to columns in bytes, as Python's tree
    counts.
    """
    plain = [line.isascii() for line in lines]

    def in_bytes(line: int, column: int) -> int:
        if line > len(lines) or plain[line - 1]:
            return column
        return len(lines[line - 1][:column].encode("utf-8", "surrogatepass"))

    return in_bytes


def _place(where: CodeRange, in_bytes: Callable[[int, int], int]) -> Place:
    start, end = where.start, where.end
    return start.line, in_bytes(start.line, start.column), end.line, in_bytes(end.line, end.column)
