"""Whether loops on the host may be compiled in the present context, and their compilers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from np2tf.arrays.front.flags import fast_flags, uses_numpy_rules
from np2tf.arrays.front.numpy_state import raises_floating_point_errors, warnings_are_errors
from np2tf.core import late
from np2tf.core.late import installation
from np2tf.core.settings import config
from np2tf.staging.tiers.call_context import is_recording, load, tensorflow

if TYPE_CHECKING:
    from np2tf.staging.compile.loop_compiler import LoopCompiler
    from np2tf.staging.host.jit import JittedFunction


def loop_compiler(jitted_function: JittedFunction) -> LoopCompiler:
    """Return the compiler of a loop's function."""
    load()
    return late.compiler.LoopCompiler.of(jitted_function)  # type: ignore[no-any-return]


def is_possible() -> bool:
    """Return whether loops on the host may be compiled in the present context."""
    if installation.problem or config.jit == "off":
        return False
    if not fast_flags.numpy or not uses_numpy_rules():
        return False
    if tensorflow.is_known and (is_recording() or tensorflow.graphs.stack):
        return False
    return not (raises_floating_point_errors() or warnings_are_errors())
