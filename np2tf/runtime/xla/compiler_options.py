"""Options of XLA's compiler for CPUs that TensorFlow reads only from the environment, once per process."""

from __future__ import annotations

import os

#: XLA compiles a loop whose variables take at most this many bytes to one machine function. Any other loop
#: becomes a list of kernels that a scheduler starts in each iteration, at 50 ns each. XLA's own limit is
#: 1,024. Larger loops gain from kernels that use several cores. (`benchmarks/kernels`: geometric mean over
#: NumPy 3.97 with XLA's own limit, 4.73 with 1e5, 4.51 with this limit, 4.55 with 3e5, 4.43 with 1e9.) A
#: limit of 1e5 would exclude loops that draw random numbers, because a buffer of words is one of their
#: variables (`random.word_buffers`).
LOOP_BYTES = 2**18
_LIMIT = "xla_cpu_small_while_loop_byte_threshold"
_EXTRA = "--xla_backend_extra_options="


def with_loop_limit(flags: str) -> str:
    """Return the value of XLA_FLAGS with the limit for loops. Settings of the user are kept."""
    if _LIMIT in flags:
        return flags
    option = f"{_LIMIT}={LOOP_BYTES}"
    parts = flags.split()
    for k, part in enumerate(parts):
        if part.startswith(_EXTRA):
            parts[k] = f"{part},{option}"
            return " ".join(parts)
    return " ".join([*parts, f"{_EXTRA}{option}"])


def set_options() -> None:
    """Set the options, unless XLA has read them already."""
    os.environ["XLA_FLAGS"] = with_loop_limit(os.environ.get("XLA_FLAGS", ""))
