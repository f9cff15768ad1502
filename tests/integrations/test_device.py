"""Programs in StableHLO for a device that this machine lacks, and how they come out in another runtime."""

from __future__ import annotations

import dataclasses
import importlib
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.arrays.front.residency import device_kind
from np2tf.integrations.serving.inputs import InputError


def run(program: Any, results: list[Any], *args: np.ndarray) -> list[np.ndarray]:
    """Return the results of a program, computed by JAX from its artifact."""
    jax = pytest.importorskip("jax")
    export = importlib.import_module("jax.export")
    with jax.enable_x64():
        kinds = [jax.ShapeDtypeStruct(spec.shape, spec.dtype.as_numpy_dtype) for spec in program.results]
        stand_in = jax.jit(
            lambda *_: tuple(jax.numpy.zeros(k.shape, k.dtype) for k in kinds), keep_unused=True
        )
        exported = export.export(stand_in)(*args, *program.arrays)
        exported = dataclasses.replace(exported, mlir_module_serialized=program.artifact())
        return [np.asarray(result) for result in exported.call(*args, *program.arrays)]


def same(function: Any, *args: np.ndarray, device: str = "gpu") -> Any:
    """Compare a function's program with the function, and return the program."""
    copies = [arg.copy() for arg in args]
    wanted = function(*copies)
    wanted = [np.asarray(one) for one in (wanted if isinstance(wanted, tuple) else (wanted,))]
    program = np2tf.stablehlo(function, [*args], device=device)
    found = run(program, wanted, *args)
    if program.has_check:
        assert not found.pop()
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    return program


def steps_of_a_stencil(a, b, steps=50):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a, b


def rows_and_elements(a):
    n = len(a)
    out = np.zeros_like(a)
    for i in range(n):
        for j in range(i):
            out[i, j] = (a[i, j] - out[i, :j] @ out[j, :j]) / out[j, j]
        out[i, i] = np.sqrt(a[i, i] - out[i, :i] @ out[i, :i])
    return out


def rolls(u):
    for _ in range(3):
        u = 0.25 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1))
        u[::2] *= 0.5
    return u, np.log(u + 2.0), u.sum()


def steps_with_a_norm(u, steps=50):
    change = 0.0
    for _ in range(steps):
        around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        new = u + 0.1 * (around - 4.0 * u) - 0.01 * u * u * u
        change = np.abs(new - u).max()
        if change < 0.0:
            new = new * np.roll(new, 1, 0)
        u = new
    return u, change


def indexed(x, where):
    return x[where] * 2.0


def patterns(x, v):
    n = len(v)
    rows = np.arange(n)
    return (
        np.eye(n) + x,
        v[rows[::-1]] + np.arange(3, 3 + 2 * n, 2),
        np.where(np.eye(n, n, 3, dtype=bool), v, x),
        np.where(rows[:, None] > rows, x, v * rows.astype(np.float32)),
    )


def test_programs_for_a_gpu_are_right() -> None:
    rng = np.random.default_rng(3)
    a = rng.random((130, 130))
    same(steps_of_a_stencil, a, a * 2)
    # An accelerator waits for the host at a conditional: one that pins a value, and one of the source.
    same(steps_with_a_norm, a)
    program = np2tf.stablehlo(steps_with_a_norm, [a], device="gpu")
    assert "stablehlo.if" not in program
    assert "stablehlo.if" in np2tf.stablehlo(steps_with_a_norm, [a], device="cpu")
    same(rows_and_elements, rng.random((8, 8)) + 8 * np.eye(8))
    same(rolls, rng.random((66, 64)))


def test_a_last_result_tells_of_errors() -> None:
    x, inside, outside = np.arange(5.0), np.array([1, -2]), np.array([1, 5])
    program = same(indexed, x, inside)
    assert program.has_check
    assert run(program, [], x, outside)[-1]
    assert not np2tf.stablehlo(rolls, ["f64[4, 4]"]).has_check


def test_large_constants_are_computed() -> None:
    rng = np.random.default_rng(4)
    program = same(patterns, rng.random((1500, 1500)), rng.random(1500))
    assert len(program) < 40_000
    weights = rng.random((400, 400))

    def product(x):
        return x @ weights

    program = same(product, rng.random((2, 400)))
    (array,) = program.arrays  # more than a megabyte is an input
    np.testing.assert_array_equal(array, weights)
    assert len(program) < 40_000


def test_arguments() -> None:
    def talks(x):
        for k in range(3):
            print(k)
            x = x * 2
        return x

    with pytest.raises(np2tf.StagingError, match="prints"):
        np2tf.stablehlo(talks, ["f64[3]"], device="gpu")
    with pytest.raises(ValueError, match="abacus"):
        np2tf.stablehlo(rolls, ["f64[3, 3]"], device="abacus")
    with pytest.raises(InputError):
        np2tf.stablehlo(rolls, ["f64[?, 3]"], device="tpu")
    program = np2tf.stablehlo(rolls, ["f64[4, 4]"], device="tpu")
    assert b"StableHLO_v1.0.0\x00" in program.artifact()[:24]
    assert b"StableHLO_v1.5.0" in program.artifact("1.5.0")
    assert [spec.shape.rank for spec in program.results] == [2, 2, 0]
    assert device_kind() in ("cpu", "gpu", "tpu")
