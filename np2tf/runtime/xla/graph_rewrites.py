"""Calls of functions whose arithmetic Grappler, TensorFlow's optimizer of graphs, leaves as it is.

Grappler computes as if numbers were real: it makes ``x <= 0`` of ``~(x > 0)``, which differs for NaN, `expm1`
of ``exp(x) - 1``, and drops ``x + 0.0``. docs/floating-point.md shows what that changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.python.eager import context


@cache
def _options_without_rewrites(
    executor_type: str | None, serialized_config: bytes
) -> context.FunctionCallOptions:
    settings = config_pb2.ConfigProto.FromString(serialized_config)
    options = settings.graph_options.rewrite_options
    off = rewriter_config_pb2.RewriterConfig.OFF
    options.constant_folding = options.arithmetic_optimization = options.remapping = off
    return context.FunctionCallOptions(executor_type, settings)


def exact_call_options() -> context.FunctionCallOptions:
    """Return the options of a call, from here and now, in which no arithmetic is rewritten."""
    options = context.context().function_call_options
    return _options_without_rewrites(options.executor_type, options.config_proto_serialized)


@contextmanager
def exact_calls() -> Iterator[None]:
    """Functions that are called within are not rewritten. A graph made within notes that in its calls."""
    here = context.context()
    before = here.function_call_options
    here.function_call_options = exact_call_options()
    try:
        yield
    finally:
        here.function_call_options = before
