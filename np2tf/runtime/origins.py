"""What is known of where an array came from that a staged loop or branch gives: is it an argument?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from np2tf.staging import StagingError
from np2tf.tnp.cells import Cell, aliases
from np2tf.tnp.ndarray import is_array


def refuse_hidden_sharing(leaf: Any, leaves: Sequence[Any], arguments: Sequence[Cell]) -> None:
    """Refuse to return an array that may share memory with an argument or another result, nobody knows which.

    Raises:
        StagingError: it may.
    """
    cell = leaf._cell
    known = cell.identity is not None and not leaf._path
    others = {
        id(other._cell)
        for other in leaves
        if is_array(other) and other._cell is not None and other._cell is not cell
    }
    suspects = [one for one in cell.identity[1] if one not in arguments] if known else aliases(cell)
    visible = others if known else others | set(map(id, arguments))
    if any(id(one) in visible for one in suspects):
        raise StagingError(
            "an array is returned that may or may not be the same memory as an argument or another result",
            "NP2TF513",
        )
