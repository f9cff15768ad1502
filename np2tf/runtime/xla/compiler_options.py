"""Options of XLA's compiler for CPUs that TensorFlow takes from the environment only, once in a process."""

from __future__ import annotations

import os

#: XLA makes one function of machine code of a loop whose variables take no more bytes; of any other loop it
#: makes a list of kernels that a scheduler starts in each iteration, which takes 50 ns each. XLA's own limit
#: is 1,024. Larger loops gain from kernels that use several cores. (`benchmarks/kernels`: geometric mean over
#: NumPy 3.97 with XLA's own limit, 4.73 with 1e5, 4.51 with this one, 4.55 with 3e5, 4.43 with 1e9.) With 1e5
#: loops that draw would be left out: a buffer of words is one of their variables (`random.word_buffers`).
LOOP_BYTES = 2**18
_LIMIT = "xla_cpu_small_while_loop_byte_threshold"
_EXTRA = "--xla_backend_extra_options="


def with_loop_limit(flags: str) -> str:
    """The value of the variable XLA_FLAGS with the limit for loops; what the user has set stays."""
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
