"""How `tf.function` takes a function of np2tf that is an argument or a default: as this object itself.

For an object that has `__wrapped__`, TensorFlow calls the function inside in its place: NumPy's own, or a
function without its `np2tf.jit`.
"""

from __future__ import annotations

import weakref
from typing import Any

from np2tf.lazy import LazyModule

_default_types: Any = LazyModule("tensorflow.core.function.trace_type.default_types")


def by_identity(self: Any, context: Any) -> Any:
    """Return the type of an argument that stands for one object (`__tf_tracing_type__`).

    Args:
        self: the object.
        context: TensorFlow's context of the trace.

    See https://www.tensorflow.org/api_docs/python/tf/types/experimental/SupportsTracingProtocol.
    """
    return _default_types.Weakref(weakref.ref(self))
