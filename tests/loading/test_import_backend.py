"""`np2tf.use_backend`: the same translated program on plain NumPy."""

from __future__ import annotations

import functools
import sys
from pathlib import Path

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from tests.helpers.selections import every_second

PROGRAMS = sorted((Path(__file__).resolve().parents[2] / "fixtures" / "programs").glob("*.py"))


def of_ours(value: object) -> bool:
    """Return whether a result holds an object of np2tf or TensorFlow."""
    if isinstance(value, dict):
        return of_ours(list(value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(of_ours, value))
    return type(value).__module__.startswith(("np2tf", "tensorflow"))


EXPRESSIONS = """
tnp.zeros(3); tnp.ndarray((2,)); tnp.asarray([1, 2]); tnp.asarray(t); tnp.array(t); tnp.require(t, None, 'C')
tnp.ascontiguousarray(t); tnp.asarray_chkfinite(t); tnp.zeros_like(t); tnp.frombuffer(b'12345678')
t + 1; 1 + t; t @ t; -t; t == t; abs(t); t.sum(); t.astype(int); tnp.sum(t); tnp.add(t, 1)
tnp.sum(t, axis=0, keepdims=True); tnp.add.outer(t, t); tnp.add.reduce(t); np.sum(t); np.add(t, 1)
tnp.linalg.norm(t); tnp.linalg.svd(tnp.eye(2)); tnp.fft.fft(t); tnp.random.default_rng(0).normal(size=2)
tnp.random.rand(2); tnp.random.RandomState(1).rand(2); tnp.random.permutation(3); tnp.concatenate([t, t])
tnp.at(tnp.ones(3))[1].set(4); tnp.at(tnp.ones(3))[1].add(4); tnp.add_at(tnp.ones(3), [1, 1], 2)
tnp.fill_diagonal(tnp.eye(2), 3); tnp.copyto(tnp.ones(2), 5); tnp.put(tnp.ones(2), 0, 5)
tnp.where(t > 1); tnp.meshgrid(t, t); tnp.histogram(t); tnp.unique(t); tnp.einsum('i,i', t, t)
tnp.apply_along_axis(lambda v: v.sum(), 0, tnp.ones((2, 2))); tnp.vectorize(lambda v: v + 1)(tnp.arange(2))
tnp.c_[t, t]; tnp.mgrid[0:2]; tnp.r_[0:3]; tnp.poly1d([1, 2])(tnp.ones(2))
tnp.polyfit([0, 1, 2], [0, 1, 2], 1)
tnp.broadcast_to(t, (2, 3)); tnp.atleast_2d(t); tnp.array_split(t, 2); tnp.int64(3)
np2tf.cond(np.bool_(True), lambda: tnp.ones(1), lambda: 2)
np2tf.while_loop(lambda i: i < 3, lambda i: i + 1, 0)
np2tf.for_loop(np2tf.range(3), lambda i, s: s + tnp.ones(1), t)
np2tf.and_(tnp.any(t), lambda: tnp.ones(1))
np2tf.jit(lambda x: tnp.sum(x) + x)(t)
"""
EXPRESSIONS = [
    expression.strip() for line in EXPRESSIONS.strip().splitlines() for expression in line.split("; ")
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_results_are_numpys_own(expression: str):
    names = {"np": np, "np2tf": np2tf, "tnp": tnp, "t": np.arange(3.0)}
    with np2tf.use_backend("numpy"):
        result = eval(expression, names)
    assert not of_ours(result), type(result)


@functools.cache
def loaded(path: Path):
    sys.path.insert(0, str(path.parent))
    try:
        original: dict[str, object] = {"__name__": path.stem, "__file__": str(path)}
        exec(compile(path.read_bytes(), str(path), "exec"), original)
        return original["main"], np2tf.import_module(f"{path.stem}_translated", path).main
    finally:
        sys.path.remove(str(path.parent))


@pytest.mark.parametrize("path", every_second(PROGRAMS), ids=lambda path: path.stem)
def test_programs_give_what_numpy_gives_to_the_last_bit(path: Path):
    original, translated = loaded(path)
    expected = original()
    with np2tf.use_backend("numpy"):
        result = translated()
    assert not of_ours(result)
    assert repr(result) == repr(expected)
    for got, wanted in zip(np.atleast_1d(result) if np.isscalar(result) else [result], [expected]):
        np.testing.assert_equal(got, wanted)


def test_as_a_function():
    before = np2tf.config.eager, np2tf.config.jit
    try:
        np2tf.use_backend("numpy")
        assert type(tnp.ones(2)) is np.ndarray
        np2tf.use_backend("numpy")
        np2tf.use_backend("tensorflow")
        assert (np2tf.config.eager, np2tf.config.jit) == before
        np2tf.use_backend("tensorflow")
        assert (np2tf.config.eager, np2tf.config.jit) == before
    finally:
        np2tf.config.eager, np2tf.config.jit = before


def test_blocks_in_blocks():
    with np2tf.config.using(eager="tensorflow", jit="strict"):
        with np2tf.use_backend("numpy"):
            assert type(tnp.ones(2)) is np.ndarray
            with np2tf.use_backend("tensorflow"):
                assert (np2tf.config.eager, np2tf.config.jit) == ("tensorflow", "strict")
                with np2tf.use_backend("numpy") as inner:
                    assert isinstance(inner, np2tf.use_backend)
                    assert type(tnp.ones(2)) is np.ndarray
                assert np2tf.config.eager == "tensorflow"
            assert type(tnp.ones(2)) is np.ndarray
        assert (np2tf.config.eager, np2tf.config.jit) == ("tensorflow", "strict")


def test_errors_end_a_block():
    with pytest.raises(KeyError), np2tf.use_backend("numpy"):
        raise KeyError
    assert np2tf.config.jit != "off"


def test_unknown_backend():
    with pytest.raises(ValueError, match="'numpy' or 'tensorflow', not 'jax'"):
        np2tf.use_backend("jax")


def test_arrays_made_before_stay_where_they_are():
    array = np2tf.device_put(np.zeros(3))
    with np2tf.use_backend("numpy"):
        array[1:] = 2
        array[:1][...] = 1
        array += tnp.ones(3)
        assert type(array) is tnp.ndarray
    assert np.asarray(array).tolist() == [2.0, 3.0, 3.0]
