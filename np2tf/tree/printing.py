"""The text of a tree, statement by statement; a statement is printed only once.

libcst prints the statements. The blocks of functions, classes, loops and branches are gone through here, so
that a statement inside an edited function is not printed again either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from functools import cache
from itertools import chain
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from np2tf.tree.memo import forgettable

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
    """Return the texts of the lines above the statements of a module, of the statements, and of the lines
    below them.
    """
    header = [module.code_for_node(line) for line in module.header]
    footer = [module.code_for_node(line) for line in module.footer]
    state = _State(module.default_indent, module.default_newline)
    return header, [_text(statement, state) for statement in module.body], footer


def inner_parts(module: cst.Module, node: cst.ClassDef) -> tuple[int, Sequence[str]]:
    """Return the number of lines above the first statement of a class at the top of a module, and the texts
    of its statements.
    """
    block = node.body
    assert isinstance(block, cst.IndentedBlock)
    state = _State(module.default_indent, module.default_newline)
    whole = _text(node, state)
    state.increase_indent(state.default_indent if block.indent is None else block.indent)
    texts = [_text(statement, state) for statement in block.body]
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
    around, state.tokens = state.tokens, []
    block = statement.body if type(statement) in _WITH_BLOCK else None  # type: ignore[attr-defined]
    is_nested = type(block) is cst.IndentedBlock and block.body
    printed = _with_body(statement, _Block(block)) if is_nested else statement  # type: ignore[arg-type]
    printed._codegen(state)
    text = "".join(state.tokens)
    state.tokens = around
    _texts[id(statement)] = statement, text, habits
    return text


def _with_body(statement: cst.CSTNode, body: _Block) -> cst.CSTNode:
    """Return a copy of a statement with another body, without libcst's checks of a body's class."""
    copy: cst.CSTNode = object.__new__(type(statement))
    for name in _field_names(type(statement)):
        object.__setattr__(copy, name, body if name == "body" else getattr(statement, name))
    return copy


@cache
def _field_names(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))  # type: ignore[arg-type]
