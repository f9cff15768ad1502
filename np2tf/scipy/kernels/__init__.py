"""The functions of SciPy over tensors. Importing a module of this package imports SciPy and TensorFlow.

Each chapter of rules/scipy/ is loaded by the first use of one of its functions with a tensor. May import
`tnp` and `np2tf.scipy`; the run time stays out.
"""

from __future__ import annotations

import importlib

#: Chapter of rules/scipy/ -> the modules that implement it.
_MODULES = {
    "special": tuple(
        f"special.{name}"
        for name in ("errors", "gammas", "incomplete", "bessel", "elementwise", "sums", "counting")
    ),
    "linalg": (
        "linalg.solving",
        "linalg.factors",
        "linalg.factoring",
        "linalg.matrices",
        "linalg.exponential",
    ),
    "fft": ("fourier",),
    "signal": ("convolution", "filtering"),
    "ndimage": ("neighbourhoods", "smoothing"),
    "stats": ("stats.normal",),
    "distance": ("distances",),
}


def load(chapter: str) -> None:
    """Import the modules of a chapter, which register their functions."""
    for name in _MODULES[chapter]:
        importlib.import_module(f"np2tf.scipy.kernels.{name}")
