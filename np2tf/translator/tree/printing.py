"""The text of a tree, statement by statement: unchanged statements are cut out of the file."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from np2tf.translator.sources.python_trees import first_line
from np2tf.translator.tree.nodes import field_names, forgettable

# -- printing ------------------------------------------------------------------------------------------------
# The text of a tree, statement by statement; a statement of a file is cut out of the file.
#
# libcst prints new and edited statements. The blocks of functions, classes, loops and branches are gone
# through here, so that a statement inside an edited function is not printed again either.

#: The texts of statements, with the indentation and the usual line ends that they depend on.
_texts: dict[int, tuple[cst.CSTNode, str, tuple[str, ...]]] = forgettable({})
#: Statements whose blocks are gone through.
_WITH_BLOCK = frozenset({cst.FunctionDef, cst.ClassDef, cst.If, cst.For, cst.While, cst.With})
_NO_CONTEXT: AbstractContextManager[None] = nullcontext()
_LINE_END = re.compile(r"\r\n?|\n")


def print_module(module: cst.Module) -> str:
    """Return `module.code`; the statements are remembered, and not printed again in another module."""
    if not module.has_trailing_newline or not module.body:  # the last line ends as no statement does
        return module.code
    return "".join(chain(*parts(module)))


def parts(module: cst.Module) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """Return the texts above a module's statements, of the statements, and below them."""
    header = [module.code_for_node(line) for line in module.header]
    footer = [module.code_for_node(line) for line in module.footer]
    state = _State(module.default_indent, module.default_newline)
    return header, [_text(statement, state) for statement in module.body], footer


def inner_parts(
    module: cst.Module, statement: cst.CSTNode, block: cst.IndentedBlock, indents: tuple[str, ...]
) -> tuple[int, Sequence[str]]:
    """Return the number of lines above the first statement in the only block of a statement, and the texts of
    the statements in it. `indents` are the indentations around the statement.
    """
    state = _State(module.default_indent, module.default_newline, indent_tokens=list(indents))
    whole = _text(statement, state)
    state.increase_indent(state.default_indent if block.indent is None else block.indent)
    texts = [_text(inner, state) for inner in block.body]
    return line_ends(whole) - sum(map(line_ends, texts)) - len(block.footer), texts


def line_ends(text: str) -> int:
    """Return how many line ends a text has."""
    return len(_LINE_END.findall(text))


class _State(CodegenState):
    """libcst's state of printing, without the recording of positions."""

    def record_syntactic_position(
        self,
        node: cst.CSTNode,
        *,
        start_node: cst.CSTNode | None = None,
        end_node: cst.CSTNode | None = None,
    ) -> Any:
        return _NO_CONTEXT


@dataclass(frozen=True)
class _Block:
    """Stands for the block of a statement while libcst prints the statement."""

    block: cst.IndentedBlock

    def _codegen(self, state: CodegenState) -> None:
        """Print the block as libcst does, but each statement once."""
        self.block.header._codegen(state)
        indent = self.block.indent
        state.increase_indent(state.default_indent if indent is None else indent)
        for statement in self.block.body:
            state.tokens.append(_text(statement, state))
        for line in self.block.footer:
            line._codegen(state)
        state.decrease_indent()


def _text(statement: cst.CSTNode, state: CodegenState) -> str:
    """Return the text of a statement in the block that is being printed."""
    habits = (state.default_indent, state.default_newline, *state.indent_tokens)
    entry = _texts.get(id(statement))
    if entry is not None and entry[2] == habits:
        return entry[1]
    text = _print_statement(statement, state)
    _texts[id(statement)] = statement, text, habits
    return text


def _print_statement(statement: cst.CSTNode, state: CodegenState) -> str:
    """Return what libcst prints for a statement, without the statements in its block."""
    around, state.tokens = state.tokens, []
    block = block_in(statement)
    (statement if block is None else with_body(statement, _Block(block)))._codegen(state)
    text = "".join(state.tokens)
    state.tokens = around
    return text


def block_in(statement: cst.CSTNode) -> cst.IndentedBlock | None:
    """Return the block whose statements are printed one by one."""
    block = statement.body if type(statement) in _WITH_BLOCK else None  # type: ignore[attr-defined]
    return block if type(block) is cst.IndentedBlock and block.body else None


def remember(module: cst.Module, indents: tuple[str, ...], texts: Mapping[cst.CSTNode, str]) -> None:
    """Record the texts that statements have in the file, in a block with these indentations around it."""
    habits = (module.default_indent, module.default_newline, *indents)
    for statement, text in texts.items():
        _texts[id(statement)] = statement, text, habits


def prints_as_remembered(module: cst.Module, nodes: Set[cst.CSTNode]) -> bool:
    """Return whether libcst prints `nodes` as they are in the file; false if their texts are not known."""
    state = _State(module.default_indent, module.default_newline)
    return all(_is_as_remembered(statement, state, nodes) for statement in module.body if statement in nodes)


def _is_as_remembered(statement: cst.CSTNode, state: CodegenState, nodes: Set[cst.CSTNode]) -> bool:
    entry = _texts.get(id(statement))
    if entry is None:
        return False
    block = block_in(statement)
    if block is not None and id(block.body[0]) in _texts:
        state.increase_indent(state.default_indent if block.indent is None else block.indent)
        inside = all(_is_as_remembered(inner, state, nodes) for inner in block.body if inner in nodes)
        state.decrease_indent()
        if not inside:
            return False
    return _print_statement(statement, state) == entry[1]


def with_body(statement: cst.CSTNode, body: object) -> cst.CSTNode:
    """Return a copy of a statement with another body, without libcst's checks of a body's class."""
    copy: cst.CSTNode = object.__new__(type(statement))
    for name in field_names(type(statement)):
        object.__setattr__(copy, name, body if name == "body" else getattr(statement, name))
    return copy


# -- cutting -------------------------------------------------------------------------------------------------
# Cuts the texts of statements out of a file, so that nothing is printed that stays as it is.
#
# Python's own parser says on which line a statement begins. libcst says how many lines of comments and
# blanks above it belong to it, and how many lines below the last statement of a block belong to the block.


def cut(module: cst.Module, program: ast.Module, text: str) -> bool:
    """Record the texts of a file's statements, by both its trees; return false if they cannot be cut out."""
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
            first_line(tree) - 1 - len(node.leading_lines)  # type: ignore[attr-defined]
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
        first = first_line(trees[0]) - 1 - len(block.body[0].leading_lines)  # type: ignore[attr-defined]
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
