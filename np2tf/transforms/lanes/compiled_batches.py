"""Calls of `vmap` outside of compiled functions, which are compiled as well if their lanes take long.

A lane that differentiates runs TensorFlow's operations one by one, which takes milliseconds. Many such lanes
are compiled at the first call; fewer lanes are compiled when they have taken as long as compiling takes.
Lanes of plain NumPy code stay on the host.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf

from np2tf.config import config
from np2tf.runtime.environment.call_context import is_recording
from np2tf.runtime.jit.jitted_function import JittedFunction
from np2tf.staging import StagingError
from np2tf.tnp._front.promotion_mode import uses_numpy_rules
from np2tf.tnp._front.transform_depth import transform_depth
from np2tf.tnp._tensor.storage import current_scope
from np2tf.transform_errors import RaggedRowsError, TransformError
from np2tf.transforms.core.functions import origin_of
from np2tf.transforms.core.leaves import Form, as_array, with_rows
from np2tf.transforms.core.recordings import recordings
from np2tf.transforms.core.structures import map_leaves

#: So many lanes are compiled at the first call.
MANY_LANES = 32
#: The seconds that fewer lanes must have taken.
SECONDS = 1.0
#: Functions with the same code, made anew for each call, are compiled so many times.
AFRESH = 2
#: The number of batches that are kept compiled.
_MOST_BATCHES = 64


class CompiledBatch:
    """The compiled form of one `vmap`.

    Args:
        stage: the batched function, which refuses to be staged if its lanes cannot run together.
        code: the code of the user's function; None if it has none.
    """

    def __init__(self, stage: Callable[..., Any], code: Any) -> None:
        self._code = code
        self._jitted_function = JittedFunction(stage, "compile")
        self._is_refused = self._has_run = self._differentiates = False
        self._seconds = 0.0

    def is_due(self, fun: Any, form: Form, size: int) -> bool:
        """Return whether a call with so many lanes should be compiled."""
        if self._is_refused or config.jit == "off" or not uses_numpy_rules():
            return False
        if current_scope() is not None or not tf.executing_eagerly():
            return False
        if form.is_host and origin_of(fun) is fun and not self._differentiates:
            return False
        if self._has_run:
            return True
        return (size >= MANY_LANES or self._seconds > SECONDS) and _compiled_codes[self._code] < AFRESH

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Count the time of the with block, in which lanes run one by one."""
        before, count = time.perf_counter(), recordings.count
        try:
            yield
        finally:
            self._seconds += time.perf_counter() - before
            self._differentiates |= recordings.count > count

    def run(self, args: Sequence[Any], kwargs: dict[str, Any], form: Form) -> tuple[Any] | None:
        """Return the result in a tuple; None if the call cannot be compiled. Nothing has then happened."""
        try:
            args = [map_leaves(with_rows, arg) for arg in args]
            kwargs = {name: map_leaves(with_rows, value) for name, value in kwargs.items()}
        except RaggedRowsError:
            self._is_refused = True
            return None
        if transform_depth.depth or is_recording():  # so that the tape sees all that the results need
            args = [map_leaves(as_array, arg) for arg in args]
            kwargs = {name: map_leaves(as_array, value) for name, value in kwargs.items()}
        with _not_following():
            compiler = self._jitted_function._compiler
            if not self._has_run:
                _compiled_codes[self._code] += 1
            try:
                compiler.lower(tuple(args), kwargs)
            except (StagingError, TransformError, ValueError, TypeError, LookupError, tf.errors.OpError):
                self._is_refused = True
                return None
            self._has_run = True
            return (form.of(compiler.call(tuple(args), kwargs)),)


@contextmanager
def _not_following() -> Iterator[None]:
    """Let jitted functions run compiled in the with block, although a transform is running them."""
    before, transform_depth.depth = transform_depth.depth, 0
    try:
        yield
    finally:
        transform_depth.depth = before


_batches: OrderedDict[Any, tuple[Any, CompiledBatch]] = OrderedDict()
#: Code of a function -> how many batches of it have been compiled.
_compiled_codes: Counter[Any] = Counter()


def compiled_batch(fun: Any, options: Any, stage: Callable[..., Any]) -> CompiledBatch:
    """Return the compiled form of a `vmap`: one object for each function with options.

    Args:
        fun: the function of a lane.
        options: the other arguments of `vmap`.
        stage: as for `CompiledBatch`.
    """
    root, made_by, inner = origin_of(fun), [], fun
    while inner is not root:
        made_by.append(inner.made_by[1:])
        inner = inner.made_by[0]
    key = id(root), repr(made_by), repr(options)
    if key in _batches:
        _batches.move_to_end(key)
        return _batches[key][1]
    batch = CompiledBatch(stage, (getattr(root, "__code__", type(root)), key[1:]))
    _batches[key] = root, batch  # (which keeps the id valid)
    if len(_batches) > _MOST_BATCHES:
        _batches.popitem(last=False)
    return batch
