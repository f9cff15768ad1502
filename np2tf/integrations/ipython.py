"""`%load_ext np2tf`: translates the cells that follow, in IPython and in notebooks.

When a cell arrives here, IPython's magics are already calls, and they stay. Tracebacks, `%%time` and
`inspect` show the cell as it was written; only the running code differs.
"""

from __future__ import annotations

import ast
from collections import deque
from typing import Any

from np2tf.loading.findings import Finding, tell, warn_in_one_line

#: The number of remembered texts of cells, because IPython also passes texts of incomplete cells.
_MAX_TEXTS = 16


class _Cells(ast.NodeTransformer):
    """Replaces the tree of each cell by the tree of its translation."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        #: Texts of cells, and their numbers: IPython 9 counts a cell before it has run.
        self._texts: deque[tuple[str, int]] = deque(maxlen=_MAX_TEXTS)

    def remember(self, lines: list[str]) -> list[str]:
        """Remember the text of a cell, which IPython has turned into Python."""
        self._texts.append(("".join(lines), self._shell.execution_count))
        return lines

    def visit(self, node: ast.AST) -> ast.AST:
        """Return the tree of the cell's translation, or the tree itself if the cell cannot be translated."""
        if not isinstance(node, ast.Module):
            return node
        text, number = self._cell_of(node)
        path = f"In [{number}]"
        try:
            tree = self._translate(text, path)
        except Exception as error:  # the cell runs even if np2tf has an error
            reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
            tell([Finding.create("NP2TF905", path, 1, reason=reason)], "; the cell runs untranslated")
            return node
        return node if tree is None else tree

    def _translate(self, text: str, path: str) -> ast.Module | None:
        names = self._shell.user_ns
        import np2tf
        from np2tf.loading.functions.cells import translated_cell  # loads the translator
        from np2tf.staging.process import boundary
        from np2tf.staging.process import tensorflow_patches as tensorflow_patches  # keep AutoGraph off

        tree, findings = translated_cell(text, names, path)
        tell(findings)
        if tree is not None:
            own_names = {**boundary.NAMES, "np2tf": np2tf, "tnp": np2tf.tnp}
            self._shell.user_ns_hidden.update(
                {name: own_names[name] for name in own_names if name not in names}
            )
            names.update(boundary.NAMES)
        return tree

    def _cell_of(self, node: ast.Module) -> tuple[str, int]:
        """Return the text that a tree was made from, and the cell's number. A text that is unknown is what
        Python makes from the tree.
        """
        shape = ast.dump(node)
        for text, number in reversed(self._texts):
            try:
                if ast.dump(ast.parse(text)) == shape:
                    return text, number
            except SyntaxError:
                continue
        return ast.unparse(node), self._shell.execution_count


_cells_of_shell: dict[int, _Cells] = {}


def load(shell: Any) -> None:
    """Translate the cells that follow."""
    if id(shell) in _cells_of_shell:
        return
    warn_in_one_line()
    _cells_of_shell[id(shell)] = cells = _Cells(shell)
    shell.ast_transformers.append(cells)
    shell.input_transformers_post.append(cells.remember)


def unload(shell: Any) -> None:
    """Run the cells that follow untranslated; bound names stay."""
    cells = _cells_of_shell.pop(id(shell), None)
    if cells is not None:
        shell.ast_transformers.remove(cells)
        shell.input_transformers_post.remove(cells.remember)
