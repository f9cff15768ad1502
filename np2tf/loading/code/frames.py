"""Code that counts the frames of the stack, where np2tf's frames stand between the program's."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import partial
from typing import Any

from np2tf.translator.sources.candidates import OF_THE_STACK
from np2tf.translator.sources.python_trees import imports_in


def _warn(*args: Any, **kwargs: Any) -> None:
    from np2tf.staging.objects.user_code import warn  # loads modules that few programs need

    warn(*args, **kwargs)


_WARN = "_np2tf_warn"
#: The global that the code of a source needs. It is no function, because programs list these.
NAMES = {_WARN: partial(_warn)}


class Frames:
    """What a source does with the stack.

    Args:
        tree: the source's tree.
    """

    def __init__(self, tree: ast.Module) -> None:
        self._imports: Mapping[str, str] = {
            name: module if member is None else f"{module}.{member}"
            for node in ast.walk(tree)
            for name, module, member in imports_in(node)
        }

    def are_seen_by(self, function: ast.AST) -> bool:
        """Return whether a function looks at the stack."""
        return any(self._full_name(node) in OF_THE_STACK for node in ast.walk(function))

    def leave_out_own(self, tree: ast.Module) -> None:
        """Let warnings with a `stacklevel` count only the frames of the program."""
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Call)
                and any(word.arg == "stacklevel" for word in node.keywords)
                and self._full_name(node.func) == "warnings.warn"
            ):
                node.func = ast.copy_location(ast.Name(_WARN, ast.Load()), node.func)

    def _full_name(self, node: ast.AST) -> str | None:
        """Return the name of what a node reads from a module, as `module.name`."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return f"{self._imports.get(node.value.id)}.{node.attr}"
        return self._imports.get(node.id) if isinstance(node, ast.Name) else None
