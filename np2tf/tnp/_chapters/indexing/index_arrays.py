"""Index arrays for parts of matrices (diagonals, triangles), and objects that make keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from np2tf.tnp._chapters.creation.arrays import asarray
from np2tf.tnp._dispatch.host_results import host_only

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "index_exp",
    "mask_indices",
    "s_",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
]


def diag_indices_from(arr: Any) -> Any:
    """Indices of the main diagonal of a square array."""
    arr = asarray(arr)
    if not arr.ndim >= 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


def _indices_like(function: Any) -> Any:
    def call(arr: Any, k: int = 0) -> Any:
        arr = asarray(arr)
        if arr.ndim != 2:
            raise ValueError("input array must be 2-d")
        return function(arr.shape[-2], k=k, m=arr.shape[-1])

    call.__name__ = call.__qualname__ = f"{function.__name__}_from"
    call.__doc__ = "Indices of that triangle of `arr`."
    return call


diag_indices = host_only(np.diag_indices)


mask_indices = host_only(np.mask_indices)


tril_indices = host_only(np.tril_indices)


triu_indices = host_only(np.triu_indices)


tril_indices_from = _indices_like(tril_indices)


triu_indices_from = _indices_like(triu_indices)


s_ = np.s_


index_exp = np.index_exp
