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
def without_rewrites(serialized_config: bytes) -> bytes:
    """Return a session's configuration in which no arithmetic is rewritten."""
    settings = config_pb2.ConfigProto.FromString(serialized_config)
    options = settings.graph_options.rewrite_options
    off = rewriter_config_pb2.RewriterConfig.OFF
    options.constant_folding = options.arithmetic_optimization = options.remapping = off
    return settings.SerializeToString()


@contextmanager
def exact_calls() -> Iterator[None]:
    """Functions that are called within, also from a graph, are not rewritten."""
    here = context.context()
    before = here.function_call_options
    here.function_call_options = _exact_options(before.executor_type, before.config_proto_serialized)
    try:
        yield
    finally:
        here.function_call_options = before


@cache
def _exact_options(executor_type: str | None, serialized_config: bytes) -> context.FunctionCallOptions:
    return context.FunctionCallOptions(executor_type, without_rewrites(serialized_config))
