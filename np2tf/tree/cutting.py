"""Cuts the texts of statements out of a file, so that nothing is printed that stays as it is.

Python's own parser says on which line a statement begins. libcst says how many lines of comments and blanks
above it belong to it, and how many lines below the last statement of a block belong to the block.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from np2tf.tree.printing import block_in, remember


def cut(module: cst.Module, program: ast.Module, text: str) -> bool:
    """Record the texts of the statements of a file; return false if they cannot be cut out.

    Args:
        module: libcst's tree of the file.
        program: the tree of Python's own parser.
        text: the text of the file.
    """
    if not module.has_trailing_newline or "\f" in text or "\r" in text.replace("\r\n", "\n"):
        return False
    lines = text.splitlines(keepends=True) if text.isascii() and not _OTHER_ENDS & set(text) else _lines(text)
    above, below = len(module.header), len(lines) - len(module.footer)
    ends = [*module.header, *module.footer]
    if "".join(map(module.code_for_node, ends)) != "".join([*lines[:above], *lines[below:]]):
        return False
    return _Cutter(module, lines).block(module.body, program.body, (above, below), ())


#: Characters at which `str.splitlines` ends a line, and Python's parser does not.
_OTHER_ENDS = frozenset("\v\x1c\x1d\x1e")


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


class _Cutter:
    def __init__(self, module: cst.Module, lines: Sequence[str]) -> None:
        self._module = module
        self._lines = lines

    def block(
        self,
        nodes: Sequence[cst.CSTNode],
        trees: Sequence[ast.stmt],
        span: tuple[int, int],
        indents: tuple[str, ...],
    ) -> bool:
        """Record the texts of the statements of a block, which are the lines of `span`."""
        firsts = _first_trees(nodes, trees)
        if firsts is None:
            return False
        starts = [
            _first_line(tree) - 1 - len(node.leading_lines)  # type: ignore[attr-defined]
            for node, tree in zip(nodes, firsts)
        ]
        ends = [*starts[1:], span[1]]
        if starts[0] != span[0] or any(start >= end for start, end in zip(starts, ends)):
            return False
        texts = {node: "".join(self._lines[a:b]) for node, a, b in zip(nodes, starts, ends)}
        remember(self._module, indents, texts)
        for node, tree, end in zip(nodes, firsts, ends):
            block = block_in(node)
            if block is not None and getattr(node, "orelse", None) is None:
                self._inside(block, tree.body, end, indents)  # type: ignore[attr-defined]
        return True

    def _inside(
        self, block: cst.IndentedBlock, trees: Sequence[ast.stmt], end: int, indents: tuple[str, ...]
    ) -> None:
        """Record the texts of the statements in the block of a statement that ends before line `end`."""
        first = _first_line(trees[0]) - 1 - len(block.body[0].leading_lines)  # type: ignore[attr-defined]
        indent = self._module.default_indent if block.indent is None else block.indent
        self.block(block.body, trees, (first, end - len(block.footer)), (*indents, indent))


def _first_trees(nodes: Sequence[cst.CSTNode], trees: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """Return the tree of the first statement in each line of statements; None if the numbers differ."""
    firsts: list[ast.stmt] = []
    number = 0
    for node in nodes:
        if number >= len(trees):
            return None
        firsts.append(trees[number])
        number += len(node.body) if type(node) is cst.SimpleStatementLine else 1
    return firsts if nodes and number == len(trees) else None


def _first_line(tree: ast.stmt) -> int:
    """Return the line on which a statement begins; decorators are a part of it."""
    decorators = getattr(tree, "decorator_list", ())
    return min([tree.lineno, *(decorator.lineno for decorator in decorators)]) if decorators else tree.lineno
