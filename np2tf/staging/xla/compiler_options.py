"""Options of XLA's compiler that TensorFlow reads only from the environment, once per process."""

from __future__ import annotations

import os

#: XLA compiles a loop whose variables take at most this many bytes to one machine function. Any other loop
#: becomes a list of kernels that a scheduler starts in each iteration, at 50 ns each. XLA's own limit is
#: 1,024. Larger loops gain from kernels that use several cores. (`benchmarks/kernels`: geometric mean over
#: NumPy 3.97 with XLA's own limit, 4.73 with 1e5, 4.51 with 2**18, 4.55 with 3e5, 4.43 with 1e9.) A
#: limit of 1e5 would exclude loops that draw random numbers, because a buffer of words is one of their
#: variables (`np2tf.staging.random.streams`).
LOOP_BYTES = 300_000
_LIMIT = "xla_cpu_small_while_loop_byte_threshold"
_EXTRA = "--xla_backend_extra_options="
#: LLVM vectorises a loop of fewer than 16 iterations with masked loads and stores for what is left over, and
#: on AVX-512 makes a store of 64 bits from a masked store of one narrower integer: `x.astype(np.int8)` of
#: shape (4, 5) writes 7 bytes past the end of its result. Such a loop stays scalar instead. (To vectorise it
#: with a scalar rest, by `-vectorizer-min-trip-count=0`, ends the process: "cannot select".)
_MASKS = "-force-tail-folding-style"
#: XLA's algebraic simplifier computes as if numbers were real: it multiplies by the reciprocal of a constant
#: divisor, merges constants, takes `x * mask` for a selection and `abs(x) >= 0` for true, cancels factors,
#: and drops roundings to float16. docs/floating-point.md shows which results that changed.
_SIMPLIFIER = "algsimp"
_DISABLED = "--xla_disable_hlo_passes="


def with_options(flags: str) -> str:
    """Return the value of XLA_FLAGS with the options that np2tf needs. Settings of the user are kept."""
    flags = _with_part(flags, _DISABLED, _SIMPLIFIER, _SIMPLIFIER)
    flags = _with_part(flags, _EXTRA, f"{_LIMIT}={LOOP_BYTES}", _LIMIT)
    return _with_part(flags, _EXTRA, f"{_MASKS}=none", _MASKS)


def _with_part(flags: str, flag: str, part: str, unless: str) -> str:
    """Return flags with a part added to the list that a flag has, unless the list has a setting already."""
    settings = flags.split()
    for k, setting in enumerate(settings):
        if setting.startswith(flag):
            has = any(item.partition("=")[0] == unless for item in setting[len(flag) :].split(","))
            settings[k] = setting if has else f"{setting},{part}"
            return " ".join(settings)
    return " ".join([*settings, flag + part])


def set_options() -> None:
    """Set the options. XLA reads them when it first compiles something; later changes have no effect."""
    os.environ["XLA_FLAGS"] = with_options(os.environ.get("XLA_FLAGS", ""))
