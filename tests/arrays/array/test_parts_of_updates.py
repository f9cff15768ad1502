"""Parts of an array that is written part by part: read where they were written, or before other writes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import np2tf

_KEYS = (
    "0",
    "2",
    "-1",
    "1:3",
    "::2",
    "3:0:-1",
    ":",
    "1, 2:4",
    "2, 3",
    ":, 1",
    "0:2, ::-1",
    "None, 1",
    "..., 0",
    "2:2",
)


def program(rng: np.random.Generator) -> str:
    """The source of a function that reads and writes parts of two arrays."""
    lines = ["def kernel(x, y):"]
    for _ in range(14):
        target, source = rng.choice(["x", "y"], 2)
        write, read = rng.choice(_KEYS, 2)
        kind = rng.integers(4)
        if kind == 0:
            lines.append(f"    {target}[{write}] = 2.0 * {target}[{write}] + 1.0")
        elif kind == 1:
            lines.append(f"    {target}[{write}] += {source}[{read}].sum()")
        elif kind == 2:
            lines.append(f"    {target}[{write}] = {source}[{write}] - {target}[{write}]")
        else:
            lines.append(f"    {target} = {target}[{read}].mean() + {target}")
    return "\n".join([*lines, "    return x, y", ""])


@pytest.mark.parametrize("seed", range(25))
def test_as_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    source = program(rng)
    space: dict[str, Any] = {}
    exec(source, space)
    np2tf_arrays = [rng.standard_normal((4, 5)) for _ in range(2)]
    numpy_arrays = [array.copy() for array in np2tf_arrays]
    jitted = np2tf.jit(space["kernel"], tier="compile")
    results, expected = jitted(*np2tf_arrays), space["kernel"](*numpy_arrays)
    assert jitted.compiled_count == 1, source
    for result, wanted in zip([*results, *np2tf_arrays], [*expected, *numpy_arrays], strict=True):
        np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-12, err_msg=source)


def test_rows_are_updated_without_copies() -> None:
    """XLA copied the array for each row that was read and written."""

    def kernel(f: Any) -> Any:
        for k in range(8):
            f[k] += 0.1 * (f[k] - f[7 - k])
        return f

    f = np.random.default_rng(1).standard_normal((8, 40, 40))
    code = np2tf.jit(kernel, tier="compile").lower(f)
    assert len(re.findall(r"f64\[8,40,40\]\S* copy\(", code.hlo(optimized=True))) <= 1
