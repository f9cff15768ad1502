"""Keeps continuation lines aligned to their bracket where an edit moves the bracket."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

import libcst as cst
from libcst._nodes.internal import CodegenState

from np2tf.translator.tree.nodes import field_names, walk
from np2tf.translator.tree.printing import with_body

_HEADERS = (cst.For, cst.While, cst.If, cst.With)
_TEXTS = (cst.SimpleString, cst.FormattedStringText, cst.Comment)
_EMPTY = cst.SimpleStatementSuite([cst.Pass()])


def aligned_spaces(nodes: Set[cst.CSTNode]) -> frozenset[cst.CSTNode]:
    """Return the line breaks in statements among `nodes` behind which a line is aligned to a bracket."""
    return frozenset(
        space
        for node in nodes
        if _is_printed(node)
        for space, column in _columns_of(node).items()
        if len(space.last_line.value) == column
    )


def realign(
    module: cst.Module,
    spaces: Set[cst.CSTNode],
    is_new: Callable[[cst.CSTNode], bool],
    note: Callable[[cst.CSTNode, cst.CSTNode], None],
) -> cst.Module:
    """Return the module with the lines behind `spaces` aligned to their brackets again.

    Args:
        spaces: what `aligned_spaces` returns for the source.
        is_new: tells whether a node is not in the source.
        note: is told each node of the result, and the node in whose place it stands.
    """
    if not spaces:
        return module
    changes: dict[cst.CSTNode, cst.CSTNode] = {}
    changed_lines: set[cst.CSTNode] = set()
    for node in walk(module):
        if not _is_printed(node) or not is_new(node):
            continue
        for space, column in _columns_of(node, spaces).items():
            if space in spaces and len(space.last_line.value) != column:
                changes[space] = _moved(space, column)
                changed_lines.add(node)
    if not changes:
        return module
    return Exchange(changes, changed_lines, note).node(module)  # type: ignore[return-value]


def _is_printed(node: cst.CSTNode) -> bool:
    return type(node) is cst.SimpleStatementLine or type(node) in _HEADERS


def _moved(space: cst.ParenthesizedWhitespace, column: int) -> cst.ParenthesizedWhitespace:
    """Return a line break whose line, and the comments on lines of their own above it, begin in a column."""
    old, new = space.last_line.value, cst.SimpleWhitespace(" " * column)
    lines = [
        line.with_changes(whitespace=new)
        if line.comment is not None and line.whitespace.value == old
        else line
        for line in space.empty_lines
    ]
    return space.with_changes(last_line=new, empty_lines=lines)


def _columns_of(
    statement: cst.CSTNode, aligned: Set[cst.CSTNode] = frozenset()
) -> Mapping[cst.ParenthesizedWhitespace, int]:
    """Return the column behind the bracket around each line break, if something follows the bracket.

    Columns are counted from the statement's indentation. The lines behind breaks in `aligned` are taken to be
    aligned already.
    """
    if type(statement) in _HEADERS:
        statement = with_body(statement, _EMPTY)
        if type(statement) is not cst.With:
            statement = statement.with_changes(orelse=None)
    columns = _Columns(aligned)
    statement.with_changes(leading_lines=())._codegen(columns)
    return columns.found


class _Columns(CodegenState):
    """Prints a statement to find out in which columns its brackets are."""

    def __init__(self, aligned: Set[cst.CSTNode]) -> None:
        super().__init__("", "\n")
        self._aligned = aligned
        self.found: dict[cst.ParenthesizedWhitespace, int] = {}
        self._column = 0
        self._brackets: list[_Bracket] = []
        self._is_text = False
        self._space: cst.ParenthesizedWhitespace | None = None

    def before_codegen(self, node: cst.CSTNode) -> None:
        """Note where a line break or a text begins."""
        if type(node) is cst.ParenthesizedWhitespace:
            bracket = self._brackets[-1] if self._brackets else None
            if bracket is not None and bracket.has_content and node.indent:
                self.found[node] = bracket.column
            self._space = node
        elif isinstance(node, _TEXTS):
            self._is_text = True

    def after_codegen(self, node: cst.CSTNode) -> None:
        """Note where a line break or a text ends."""
        if type(node) is cst.ParenthesizedWhitespace:
            self._space = None
            if node in self._aligned and node in self.found:
                self._column = self.found[node]
        elif isinstance(node, _TEXTS):
            self._is_text = False

    def add_token(self, value: str) -> None:
        """Count the columns of a token."""
        is_bracket = not self._is_text and self._space is None
        if is_bracket and value in ("(", "[", "{"):
            self._brackets.append(_Bracket(self._column + 1))
        elif is_bracket and value in (")", "]", "}"):
            self._brackets.pop()
        elif self._brackets and self._space is None and value:
            self._brackets[-1].has_content = True
        _, line_end, behind = value.rpartition("\n")
        self._column = len(behind) if line_end else self._column + len(value)


@dataclass
class _Bracket:
    """An open bracket: the column behind it, and whether something has followed it."""

    column: int
    has_content: bool = False


class Exchange:
    """Exchanges nodes of a tree; what contains none of them stays the same node."""

    def __init__(
        self,
        changes: Mapping[cst.CSTNode, cst.CSTNode],
        changed_lines: Set[cst.CSTNode],
        note: Callable[[cst.CSTNode, cst.CSTNode], None],
    ) -> None:
        self._changes = changes
        self._changed_lines = changed_lines
        self._note = note

    def node(self, node: cst.CSTNode) -> cst.CSTNode:
        """Return the node with the exchanges inside it."""
        if node in self._changes:
            return self._changes[node]
        if type(node) is cst.SimpleStatementLine and node not in self._changed_lines:
            return node
        fields: dict[str, object] = {}
        for name in field_names(type(node)):
            old = getattr(node, name)
            if isinstance(old, cst.CSTNode):
                new: object = self.node(old)
            elif isinstance(old, (list, tuple)):
                items = [self.node(item) if isinstance(item, cst.CSTNode) else item for item in old]
                new = items if any(map(operator.is_not, items, old)) else old
            else:
                continue
            if new is not old:
                fields[name] = new
        if not fields:
            return node
        result = node.with_changes(**fields)
        self._note(result, node)
        return result
