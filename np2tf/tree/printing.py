"""The text of a tree, statement by statement; a statement is printed only once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import libcst as cst

from np2tf.tree.memo import forgettable

#: The texts of the statements at the top of modules.
_texts: dict[int, tuple[cst.CSTNode, str, tuple[str, str]]] = forgettable({})


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
    return header, [_text(module, statement) for statement in module.body], footer


def _text(module: cst.Module, statement: cst.CSTNode) -> str:
    """Return the text of a statement, which depends on the module's usual indentation and line ends."""
    habits = module.default_indent, module.default_newline
    entry = _texts.get(id(statement))
    if entry is None or entry[2] != habits:
        entry = _texts[id(statement)] = statement, module.code_for_node(statement), habits
    return entry[1]
