"""``config.floats = "float32"``: what is float32 by default, and what stays float64."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.core.settings import config

WIDE = np.ones(3)


@pytest.fixture(params=["auto", "tensorflow"])
def narrow(request: pytest.FixtureRequest) -> Iterator[None]:
    with config.using(floats="float32", eager=request.param):
        yield


DEFAULT = {
    "tnp.zeros(3)": "float32",
    "tnp.zeros(3, dtype=float)": "float32",
    "tnp.zeros(3, dtype=complex)": "complex64",
    "tnp.array([1.0, 2.0])": "float32",
    "tnp.array([[1j]])": "complex64",
    "tnp.arange(0, 1, 0.1)": "float32",
    "tnp.linspace(0, 1, 5)": "float32",
    "tnp.eye(2)": "float32",
    "tnp.full(2, 0.5)": "float32",
    "tnp.arange(3) / 2": "float32",
    "tnp.arange(3).astype(float)": "float32",
    "tnp.arange(3).mean()": "float32",
    "tnp.mean([1, 2])": "float32",
    "tnp.sqrt(2.0)": "float32",
    "tnp.linalg.inv(tnp.eye(2))": "float32",
    "tnp.fft.fft([1, 2, 3])": "complex64",
    "tnp.random.default_rng(0).normal(size=3)": "float32",
    "tnp.random.rand(3)": "float32",
    "tnp.meshgrid(tnp.arange(2.0), tnp.arange(2))[0]": "float32",
    "tnp.bartlett(5)": "float32",
    "tnp.finfo(float)": "float32",
    "tnp.arange(3)": "int64",
    "tnp.zeros(2) > 0": "bool",
}
ASKED = {
    "tnp.zeros(3, dtype=tnp.float64)": "float64",
    "tnp.zeros(3, 'f8')": "float64",
    "tnp.zeros(3, dtype=np.dtype('double'))": "float64",
    "tnp.arange(3).astype('float64')": "float64",
    "tnp.asarray(WIDE)": "float64",
    "tnp.sin(WIDE)": "float64",
    "tnp.asarray(WIDE) * 2": "float64",
    "tnp.zeros(3) + WIDE": "float64",
    "tnp.zeros(3) * np.float64(2)": "float64",
    "tnp.concatenate([tnp.zeros(2), WIDE])": "float64",
    "tnp.asarray(WIDE).sum()": "float64",
    "tnp.finfo(tnp.float64)": "float64",
}


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(("text", "dtype"), {**DEFAULT, **ASKED}.items())
def test_dtype(text: str, dtype: str):
    assert eval(text).dtype == dtype


@pytest.mark.usefixtures("narrow")
def test_values_are_numpys_rounded():
    assert np.array_equal(np.asarray(tnp.linspace(0, 1, 7)), np.linspace(0, 1, 7).astype(np.float32))
    drawn = np.asarray(tnp.random.default_rng(3).normal(size=5))
    assert np.array_equal(drawn, np.random.default_rng(3).normal(size=5).astype(np.float32))


@pytest.mark.usefixtures("narrow")
def test_writing_and_out_keep_their_array():
    x = tnp.asarray(WIDE.copy())
    assert tnp.add(x, 1, out=x) is x
    x += 0.5
    assert x.dtype == "float64"
    y = tnp.zeros(2)
    y += 0.5
    assert y.dtype == "float32"


def test_compiled_code_follows():
    @np2tf.jit
    def f(n: int) -> object:
        return tnp.zeros(n) + tnp.arange(n) / 7

    with config.using(floats="float32", tier="compile"):
        assert f(4).dtype == "float32"


def test_off_again_it_is_numpy():
    with config.using(floats="float32"):
        assert type(tnp.zeros(2)) is tnp.ndarray
    assert type(tnp.zeros(2)) is np.ndarray
    assert tnp.zeros(2).dtype == "float64"
    assert tnp.finfo is np.finfo


def test_functions_imported_by_name_follow(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(globals(), "by_name", tnp.ones)
    with config.using(floats="float32"):
        assert globals()["by_name"](2).dtype == "float32"
    assert globals()["by_name"](2).dtype == "float64"
