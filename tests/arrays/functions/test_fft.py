"""numpy.fft over dtypes, lengths, axes, norms and modes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.core.counts import counts
from tests.helpers.op_harness import MODES, Case, differences

ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
DTYPES = ("float64", "float32", "complex128", "complex64", "int64", "int8", "bool", "float16")


def numbers(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng(5)
    values = rng.normal(size=shape) * 3
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return values.astype(dtype)


def one_cases() -> Iterator[Case]:
    for name in ONE:
        for dtype in DTYPES:
            yield Case(f"fft.{name}", (numbers(dtype, (3, 6)),))
        for n in (1, 4, 5, 9):
            yield Case(f"fft.{name}", (numbers("float64", (7, 2)), n, 0))
        for norm in ("backward", "ortho", "forward"):
            yield Case(f"fft.{name}", (numbers("float64", (8,)),), {"norm": norm})
        yield Case(f"fft.{name}", (numbers("float64", (8,)), 0))
        yield Case(f"fft.{name}", (numbers("float64", (8,)),), {"norm": "none"})
        yield Case(f"fft.{name}", (numbers("float64", (8,)),), {"axis": 1})


def many_cases() -> Iterator[Case]:
    for name in MANY:
        dtypes = ("float64", "float32", "int64") if "r" in name else DTYPES
        for dtype in dtypes:
            yield Case(f"fft.{name}", (numbers(dtype, (3, 4, 5)),))
        array = numbers("float64", (3, 4, 5))
        for norm in ("ortho", "forward"):
            yield Case(f"fft.{name}", (array,), {"norm": norm})
        yield Case(f"fft.{name}", (array, (4, 6)), {"axes": (0, 2)})
        yield Case(f"fft.{name}", (array, (-1, 3)), {"axes": (1, 0)})
        yield Case(f"fft.{name}", (array, (4, 6, 2)), {"axes": (0, 2)})


def helper_cases() -> Iterator[Case]:
    for name in ("fftshift", "ifftshift"):
        for dtype in ("float64", "int64", "complex64"):
            yield Case(f"fft.{name}", (numbers(dtype, (4, 5)),))
        yield Case(f"fft.{name}", (numbers("float64", (4, 5)), 1))
        yield Case(f"fft.{name}", (numbers("float64", (4, 5)), (0, -1)))
    for name in ("fftfreq", "rfftfreq"):
        for n in (1, 7, 8):
            yield Case(f"fft.{name}", (n,))
            yield Case(f"fft.{name}", (n, 0.1))


CASES = {"one": one_cases, "many": many_cases, "helper": helper_cases}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("group", CASES)
def test_equals_numpy(group: str, mode: str) -> None:
    assert [f"{case}: {text}" for case, text in differences(CASES[group](), mode)] == []


def test_out_is_written_and_returned() -> None:
    signal = np2tf.device_put(numbers("float64", (6,)))
    out = np2tf.device_put(np.zeros(6, complex))
    assert tnp.fft.fft(signal, out=out) is out
    np.testing.assert_allclose(out.numpy(), np.fft.fft(signal.numpy()))


def test_runs_on_tensorflow() -> None:
    with np2tf.config.using(eager="tensorflow"):
        before = counts.host
        for name in (*ONE, *MANY, "fftshift", "ifftshift"):
            getattr(tnp.fft, name)(tnp.asarray(numbers("float64", (4, 4))))
        assert counts.host == before
