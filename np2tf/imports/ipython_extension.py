"""`%load_ext np2tf`: the cells that follow are translated, in IPython and in notebooks.

IPython's magics are calls by the time a cell is seen here, and stay. Tracebacks, `%%time` and `inspect` show
the cell as it was written: only what runs is another.
"""

from __future__ import annotations

import ast
from collections import deque
from typing import Any

from np2tf.imports.programs.one_line import warn_in_one_line
from np2tf.imports.reporting.findings import Finding, tell

#: So many texts of cells are remembered until their trees come: cells are looked at before they are complete.
_REMEMBERED = 16


class _Cells(ast.NodeTransformer):
    """Takes the tree of each cell, and gives that of its translation."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._texts: deque[str] = deque(maxlen=_REMEMBERED)

    def remember(self, lines: list[str]) -> list[str]:
        """See the text of a cell, which IPython has made Python of."""
        self._texts.append("".join(lines))
        return lines

    def visit(self, node: ast.AST) -> ast.AST:
        """The translation of a cell's tree; the tree itself where that is not possible."""
        if not isinstance(node, ast.Module):
            return node
        path = f"In [{self._shell.execution_count}]"
        try:
            made = self._translated(node, path)
        except Exception as error:  # np2tf's own fault is no reason not to run a cell
            reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
            tell([Finding.made("NP2TF905", path, 1, reason=reason)], "; the cell runs as it is")
            return node
        return node if made is None else made

    def _translated(self, node: ast.Module, path: str) -> ast.Module | None:
        text = self._text_of(node)
        names = self._shell.user_ns
        import np2tf
        from np2tf.imports.functions.cells import translated_cell  # loads the translator
        from np2tf.runtime.environment import raw_tensors
        from np2tf.runtime.environment import tensorflow_patches as tensorflow_patches  # keep AutoGraph off

        made, findings = translated_cell(text, names, path)
        tell(findings)
        if made is not None:
            ours = {**raw_tensors.NAMES, "np2tf": np2tf, "tnp": np2tf.tnp}
            self._shell.user_ns_hidden.update({name: ours[name] for name in ours if name not in names})
            names.update(raw_tensors.NAMES)
        return made

    def _text_of(self, node: ast.Module) -> str:
        """The text that a tree was made from; Python's own of it, where it is not known."""
        shape = ast.dump(node)
        for text in reversed(self._texts):
            try:
                if ast.dump(ast.parse(text)) == shape:
                    return text
            except SyntaxError:
                continue
        return ast.unparse(node)


_loaded: dict[int, _Cells] = {}


def load(shell: Any) -> None:
    """Translate the cells that follow."""
    if id(shell) in _loaded:
        return
    warn_in_one_line()
    _loaded[id(shell)] = cells = _Cells(shell)
    shell.ast_transformers.append(cells)
    shell.input_transformers_post.append(cells.remember)


def unload(shell: Any) -> None:
    """Let the cells that follow run as they are; what is bound stays."""
    cells = _loaded.pop(id(shell), None)
    if cells is not None:
        shell.ast_transformers.remove(cells)
        shell.input_transformers_post.remove(cells.remember)
