"""Methods of NumPy's generators in translated code that runs while the program builds a graph of its own.

The method of a generator draws at once, so that the graph would have its numbers as constants. np2tf's
function for it draws whenever the graph runs. The import machinery puts `draw_method` around such methods.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from np2tf.lazy import LazyModule
from np2tf.tnp._front.operand_kinds import surroundings

_draws: Any = LazyModule("np2tf.tnp._chapters.random")
_GENERATORS = (np.random.Generator, np.random.RandomState)


def draw_method(method: Any) -> Any:
    """Return the function to call in the place of a method that may draw: itself outside of graphs."""
    if surroundings.graphs is None or not surroundings.graphs.stack:
        return method
    owner = getattr(method, "__self__", None)
    return _draws.function(method.__name__, method) if type(owner) in _GENERATORS else method
