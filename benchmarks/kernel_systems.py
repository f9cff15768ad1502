"""Runs kernels under one system: `python kernel_systems.py SYSTEM FOLDER SECONDS REPEAT SIZE NAME...`.

Every kernel is called on fresh copies of the same arguments, and copying is not timed. A JSON line for each
kernel goes to the standard output. The kernel's result, and its arguments after the call, go to FOLDER.
"""

from __future__ import annotations

import copy
import json
import pickle
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

KERNELS = Path(__file__).with_name("kernels")
#: This folder has SIZE, SMALL and `initialise` for kernels that do not name NumPy.
ARGUMENTS = KERNELS / "arguments"
#: np2tf's tier "auto" has time for its decisions: at least so many calls and seconds, because callers are
#: compiled later than the functions that they call, and at most so many seconds.
WARM_UP_CALLS, WARM_UP_SECONDS, LONGEST_WARM_UP = 10, 12.0, 30.0


def load(name: str, folder: Path = KERNELS) -> types.ModuleType:
    """Return the kernel's module as its author wrote it."""
    module = types.ModuleType(name)
    source = (folder / f"{name}.py").read_text()
    exec(compile(source, f"{name}.py", "exec"), vars(module))
    return module


def arguments(name: str, size: str) -> tuple[Any, ...]:
    """Return the arguments of the kernel.

    Args:
        name: the kernel.
        size: "SIZE" or "SMALL".
    """
    module = load(name, ARGUMENTS if (ARGUMENTS / f"{name}.py").exists() else KERNELS)
    return tuple(module.initialise(getattr(module, size)))


def plain(name: str) -> Callable[..., Any]:
    """Return the kernel as it is, for NumPy."""
    return load(name).kernel


def translated(name: str) -> Callable[..., Any]:
    """Return the kernel of the module that np2tf has translated without any help."""
    import np2tf

    return np2tf.import_module(name, KERNELS / f"{name}.py").kernel


def with_jax(name: str) -> Callable[..., Any]:
    """Return the kernel for JAX: `jax.jit` of the same source with `jax.numpy`. Python numbers are static."""
    import jax
    import jax.numpy

    jax.config.update("jax_enable_x64", True)
    module = load(name)
    module.np = jax.numpy  # type: ignore[attr-defined]

    def run(*args: Any) -> Any:
        static = [k for k, arg in enumerate(args) if not isinstance(arg, np.ndarray)]
        key = tuple(static)
        if key not in compiled:
            compiled[key] = jax.jit(module.kernel, static_argnums=static)
        return jax.block_until_ready(compiled[key](*args))

    compiled: dict[tuple[int, ...], Any] = {}
    return run


def with_numba(name: str) -> Callable[..., Any]:
    """Return the kernel for Numba: `njit` of the kernel and of its helpers."""
    import numba

    module = load(name)
    for key, value in list(vars(module).items()):
        if isinstance(value, types.FunctionType) and key != "initialise":
            setattr(module, key, numba.njit(value))
    return module.kernel


SYSTEMS = {"numpy": plain, "np2tf": translated, "jax": with_jax, "numba": with_numba}


def on_host(value: Any) -> Any:
    """Return the arrays of any system as np.ndarray."""
    if isinstance(value, (tuple, list)):
        return [on_host(item) for item in value]
    return value if isinstance(value, (int, float)) else np.asarray(value)


def measure(system: str, name: str, seconds: float, repeat: int, size: str, folder: Path) -> dict[str, Any]:
    """Measure the first and the best warm call; for np2tf also the dearest of the first calls, which
    compiles.

    Warm calls are repeated for `seconds`, and at least `repeat` times.
    """
    module = load(name)
    args = arguments(name, size)
    kernel = SYSTEMS[system](name)
    times: list[float] = []
    beside: list[float] = []

    def call(function: Callable[..., Any] = kernel, times: list[float] = times) -> tuple[Any, Any]:
        own = copy.deepcopy(args)
        start = perf_counter()
        result = function(*own)
        times.append(perf_counter() - start)
        return result, own

    result, own = call()
    if system == "np2tf":
        begun = perf_counter()
        least, longest = (WARM_UP_SECONDS, LONGEST_WARM_UP) if seconds else (0.0, 0.0)
        while (
            len(times) < WARM_UP_CALLS
            or (passed := perf_counter() - begun) < least
            or (passed < longest and not is_decided(kernel))
        ):
            result, own = call()
    else:
        result, own = call()
    warm = len(times)
    deadline = perf_counter() + seconds
    while len(times) < warm + repeat or perf_counter() < deadline:
        call(module.kernel, beside)
        result, own = call()
    # JAX's arrays cannot be written to, so that its arguments do not show the kernel's writes.
    done = (on_host(result), None if system == "jax" else on_host(own))
    (folder / f"{system}-{name}.pickle").write_bytes(pickle.dumps(done))
    found: dict[str, Any] = {
        "first": times[0],
        "warm": min(times[warm:]),
        "dearest": max(times[:warm]),
        "numpy": min(beside),
    }
    if system == "np2tf":
        found["how"] = how(kernel)
    return found


def how(kernel: Any) -> str:
    """Return where np2tf has decided to run the kernel; on the host, with the called functions that are
    compiled.
    """
    chosen = ", ".join(dict.fromkeys(decisions(kernel))) if hasattr(kernel, "_caches") else "not jitted"
    if "compiled" in chosen:
        return chosen
    others = functions_of(kernel.__globals__.values(), kernel.__module__)
    inner = [name for name, one in others if one is not kernel and "compiled" in decisions(one)]
    return f"{chosen} ({', '.join(inner)} compiled)" if inner else chosen


def is_decided(kernel: Any) -> bool:
    """Return whether np2tf has finally chosen how each function of the kernel's module runs."""
    others = functions_of(kernel.__globals__.values(), kernel.__module__)
    caches = [cache for _, one in others for cache in one._caches.values()]
    return all(one.timing.is_settled or one.fallback for one in caches) and bool(caches)


def decisions(function: Any) -> list[str]:
    """Return "host" or "compiled" for each kind of arguments."""
    return [cache.decision.partition(":")[0] for cache in function._caches.values()]


def functions_of(values: Iterable[Any], module: str) -> Iterator[tuple[str, Any]]:
    """Yield the functions that np2tf may compile in a module and in its classes."""
    for value in values:
        if isinstance(value, type) and value.__module__ == module:
            yield from functions_of(vars(value).values(), module)
        elif hasattr(type(value), "trace_count"):
            yield value.__qualname__, value


def main() -> None:
    system, folder, seconds, repeat, size, *names = sys.argv[1:]
    for name in names:
        try:
            found = measure(system, name, float(seconds), int(repeat), size, Path(folder))
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}
        print(json.dumps({"kernel": name, **found}), flush=True)


if __name__ == "__main__":
    main()
