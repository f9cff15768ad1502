"""Calls of SciPy that np2tf computes on TensorFlow; tests/arrays/test_scipy.py compares them with SciPy."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.helpers.op_harness import Case

pytest.importorskip("scipy")
import scipy
import scipy.fft
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.spatial.distance
import scipy.special
import scipy.stats

from np2tf.scipy import distance, fft, linalg, ndimage, signal, special, stats

#: Until SciPy 1.16, functions of scipy.linalg refuse stacks of matrices.
HAS_STACKS = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 16)
OURS = SimpleNamespace(
    special=special,
    linalg=linalg,
    fft=fft,
    signal=signal,
    ndimage=ndimage,
    stats=stats,
    spatial=SimpleNamespace(distance=distance),
)
FLOATS = ("float64", "float32")
NUMBERS = (*FLOATS, "int64", "int32")
ALL = (*NUMBERS, "complex128", "complex64")


def case(name: str, *args: Any, **kwargs: Any) -> Case:
    """Return a call of a function of SciPy."""
    return Case(name, args, kwargs, (scipy, OURS))


def numbers(dtype: str, *shape: int, seed: int = 5) -> np.ndarray:
    """Numbers of a dtype, about 3 in size."""
    rng = np.random.default_rng([seed, *shape])
    values = rng.normal(size=shape) * 3
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.normal(size=shape)
    return values.astype(dtype)


def regular(dtype: str, size: int) -> np.ndarray:
    """Return a matrix far from singular."""
    return numbers(dtype, size, size) + (8 * np.eye(size)).astype(dtype)


def definite(dtype: str, size: int) -> np.ndarray:
    """Return a Hermitian positive definite matrix."""
    half = numbers(dtype, size, size)
    return (half @ half.conj().T + (3 * np.eye(size)).astype(dtype)).astype(dtype)


def of_special() -> Iterator[Case]:
    """Functions of scipy.special that are not elementwise; the elementwise functions have a table of their
    own.
    """
    a = numbers("float64", 3, 4)
    for name in ("logsumexp", "softmax", "log_softmax"):
        for axis in (None, 0, -1):
            yield case(f"special.{name}", a, axis=axis)
        for dtype in ("float32", "int64", "int32"):
            yield case(f"special.{name}", numbers(dtype, 3, 4), axis=1)
        for value in (np.inf, -np.inf, np.nan, 1e3):
            row = np.array([[1.0, value, 2.0], [-np.inf, -np.inf, -np.inf], [1e-300, -800.0, value]])
            yield case(f"special.{name}", row, axis=1)
        yield case(f"special.{name}", np.array(2.5))
    yield case("special.logsumexp", a, axis=(0, 1), keepdims=True)
    yield case("special.logsumexp", a, axis=1, b=np.abs(numbers("float64", 3, 4, seed=6)))
    yield case("special.logsumexp", a, axis=0, b=np.array([0.0, 1.0, 2.0, 0.5]))
    n, k = np.arange(-2, 26)[:, None], np.arange(-2, 12)
    yield case("special.comb", n, k)
    yield case("special.comb", n[3:], k[2:], repetition=True)
    yield case("special.comb", np.array([5.5, 7.25, 60.0, np.nan]), np.array([2.0, 3.5, 30.0, 1.0]))
    for values in (np.arange(-3, 175), np.linspace(-2, 30, 41), np.array([np.nan, 2.5], "float32")):
        yield case("special.factorial", values)
    yield case("special.multigammaln", np.linspace(2.5, 40, 20), 4)
    yield case("special.polygamma", np.arange(6)[:, None], np.linspace(0.1, 30, 40))
    yield case("special.polygamma", 2, np.array([1, 2, 10]))
    yield case("special.polygamma", 0, np.array([-0.5, -1.5, 0.25], "float32"))
    yield case("special.zeta", np.array([1.5, 2, 3, 8.0])[:, None], np.array([0.25, 1, 5, 40.0]))


def of_linalg() -> Iterator[Case]:
    for dtype in ALL:
        a, spd = regular(dtype, 5), definite(dtype, 5)
        vector, matrix = numbers(dtype, 5), numbers(dtype, 5, 2)
        for right in (vector, matrix):
            yield case("linalg.solve", a, right)
            yield case("linalg.solve_triangular", a, right)
            yield case("linalg.solve_triangular", a, right, lower=True, trans=1)
            yield case("linalg.solve_triangular", a, right, trans="C", unit_diagonal=dtype == "complex128")
            for lower in (False, True):
                yield case("linalg.cho_solve", (scipy.linalg.cho_factor(spd, lower=lower)[0], lower), right)
            for trans in (0, 1, 2):
                yield case("linalg.lu_solve", scipy.linalg.lu_factor(a), right, trans=trans)
        yield case("linalg.solve", spd, vector, assume_a="pos")
        yield case("linalg.inv", a)
        if dtype not in ("float32", "complex64"):  # the dtype of SciPy's result is wider than its precision
            yield case("linalg.det", a)
        yield case("linalg.lu_factor", a)
        yield case("linalg.lu_factor", numbers(dtype, 6, 6))
        yield case("linalg.pinv", numbers(dtype, 5, 3))
        yield case("linalg.pinvh", spd)
        for lower in (False, True):
            yield case("linalg.cholesky", spd, lower=lower)
            yield case("linalg.cho_factor", spd, lower=lower)
            yield case("linalg.eigvalsh", spd, lower=lower)
            yield case("linalg.eigh", spd, lower=lower, eigvals_only=True)
        yield case("linalg.svd", numbers(dtype, 4, 6), compute_uv=False)
        yield case("linalg.svdvals", numbers(dtype, 4, 6))
        yield case("linalg.expm", numbers(dtype, 4, 4))
        yield case("linalg.expm", (numbers(dtype, 4, 4) / 100).astype(dtype))
        yield case("linalg.block_diag", a, numbers(dtype, 2, 3), vector, np.array(3, dtype))
        yield case("linalg.toeplitz", vector)
        yield case("linalg.toeplitz", vector, numbers(dtype, 3))
        yield case("linalg.hankel", vector, numbers(dtype, 3))
        yield case("linalg.hankel", vector)
        yield case("linalg.circulant", vector)
        for ord in (None, 2, "fro", *((1, np.inf) if dtype not in ("float32", "complex64") else ())):
            yield case("linalg.norm", a, ord)
        if dtype not in ("float32", "complex64"):
            yield case("linalg.norm", vector)
        yield case("linalg.norm", vector, 3)
        yield case("linalg.norm", a, axis=1, keepdims=True)
    yield case("linalg.block_diag", np.arange(3), numbers("float32", 2, 2), [[1, 2]])
    if HAS_STACKS:
        yield case("linalg.inv", np.stack([regular("float64", 3), definite("float64", 3)]))
        yield case("linalg.cholesky", np.stack([definite("float64", 3)] * 2))
    for dtype in FLOATS:
        yield case("linalg.lstsq", numbers(dtype, 7, 3), numbers(dtype, 7))
        yield case("linalg.lstsq", numbers(dtype, 7, 3), numbers(dtype, 7, 2))
        yield case("linalg.lstsq", regular(dtype, 3), numbers(dtype, 3, 2))


def of_fft() -> Iterator[Case]:
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
        for dtype in NUMBERS if name in ("rfft", "ihfft") else ALL:
            yield case(f"fft.{name}", numbers(dtype, 3, 6))
        yield case(f"fft.{name}", numbers("float64", 7, 2), 5, axis=0)
        yield case(f"fft.{name}", numbers("float64", 8), norm="ortho")
        yield case(f"fft.{name}", numbers("float64", 8), norm="forward", workers=1)
    for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"):
        for dtype in ("float64", "float32"):
            yield case(f"fft.{name}", numbers(dtype, 3, 4, 6))
        yield case(f"fft.{name}", numbers("float64", 3, 4, 6), s=(4, 5))
        yield case(f"fft.{name}", numbers("float64", 3, 4, 6), axes=(0, 2), norm="ortho")
    for name in ("fftshift", "ifftshift"):
        yield case(f"fft.{name}", numbers("float64", 4, 5))
        yield case(f"fft.{name}", numbers("int64", 4, 5), axes=1)
    yield case("fft.fftfreq", 8, d=0.5)
    yield case("fft.rfftfreq", 7)


def of_signal() -> Iterator[Case]:
    for mode in ("full", "same", "valid"):
        for dtype in ALL:
            for name in ("convolve", "correlate", "fftconvolve"):
                if name == "fftconvolve" and dtype == "int32":
                    continue
                yield case(f"signal.{name}", numbers(dtype, 9), numbers(dtype, 4), mode)
                yield case(f"signal.{name}", numbers(dtype, 5, 6), numbers(dtype, 3, 2), mode)
        yield case("signal.convolve", numbers("float64", 4), numbers("float64", 9), mode)
        yield case("signal.correlate", numbers("float64", 4), numbers("float64", 9), mode)
        yield case("signal.correlate", numbers("complex128", 4), numbers("complex128", 9), mode)
        yield case("signal.convolve", numbers("float64", 300), numbers("float64", 200), mode)
        yield case("signal.convolve", numbers("float64", 9), numbers("float64", 4), mode, method="fft")
        yield case("signal.convolve2d", numbers("float64", 5, 6), numbers("float64", 3, 3), mode)
        yield case("signal.fftconvolve", numbers("float64", 3, 4, 5), numbers("float64", 2, 3, 2), mode)
    b, a = scipy.signal.butter(4, 0.2)
    for dtype in ALL:
        yield case("signal.lfilter", b, a, numbers(dtype, 40))
        if dtype[:3] != "int":
            yield case("signal.lfilter", numbers(dtype, 5), np.array([2], dtype), numbers(dtype, 3, 12))
    yield case("signal.lfilter", b.astype("float32"), a.astype("float32"), numbers("float32", 12, 3), axis=0)
    yield case("signal.lfilter", b, [1.0], numbers("float64", 12))
    yield case("signal.lfilter", [0.5], [1.0, -0.5], np.array([1, np.nan, 3, np.inf, 2.0])[::-1].copy())
    yield case("signal.lfilter", b, a, numbers("float64", 3, 12), zi=numbers("float64", 3, 4))
    yield case("signal.lfilter", b, a, numbers("float64", 12, 3), axis=0, zi=numbers("float64", 4, 3))
    sos = scipy.signal.butter(5, 0.3, output="sos")
    yield case("signal.sosfilt", sos, numbers("float64", 30))
    yield case("signal.sosfilt", sos, numbers("float64", 30, 2), axis=0)
    for padtype in ("odd", "even", "constant", None):
        yield case("signal.filtfilt", b, a, numbers("float64", 2, 40), padtype=padtype)
    yield case("signal.filtfilt", b, a, numbers("float64", 40, 2), axis=0, padlen=5)
    for dtype in ("float64", "float32", "int64"):
        yield case("signal.hilbert", numbers(dtype, 8))
        yield case("signal.hilbert", numbers(dtype, 7, 2), axis=0)
    yield case("signal.hilbert", numbers("float64", 8), N=11)
    for type in ("linear", "constant"):
        yield case("signal.detrend", numbers("float64", 3, 9), type=type)
        yield case("signal.detrend", numbers("int64", 9, 3), axis=0, type=type)


def of_ndimage() -> Iterator[Case]:
    image = numbers("float64", 6, 7)
    for mode in (
        "reflect",
        "constant",
        "nearest",
        "mirror",
        "wrap",
        "grid-mirror",
        "grid-wrap",
        "grid-constant",
    ):
        for name in ("convolve", "correlate"):
            for shape in ((3, 3), (2, 4), (1, 5)):
                yield case(f"ndimage.{name}", image, numbers("float64", *shape), mode=mode, cval=1.5)
            yield case(f"ndimage.{name}1d", image, numbers("float64", 4), axis=0, mode=mode, cval=1.5)
            yield case(f"ndimage.{name}1d", image, numbers("float64", 3), mode=mode)
        yield case("ndimage.gaussian_filter", image, 1.2, mode=mode, cval=-2.0)
        yield case("ndimage.gaussian_filter1d", image, 3.0, axis=0, mode=mode)
        yield case("ndimage.uniform_filter", image, 4, mode=mode, cval=2.0)
        yield case("ndimage.uniform_filter1d", image, 3, axis=0, mode=mode)
        for name in ("maximum_filter", "minimum_filter"):
            yield case(f"ndimage.{name}", image, 3, mode=mode, cval=1.0)
        for name in ("sobel", "prewitt", "laplace"):
            yield case(f"ndimage.{name}", image, mode=mode, cval=1.0)
    for dtype in ("float32", "int32", "uint8", "int16", "int64"):
        whole = np.abs(numbers(dtype, 6, 7))
        yield case("ndimage.uniform_filter", whole, (3, 2))
        yield case("ndimage.maximum_filter", whole, size=(2, 3))
        if dtype != "uint8":
            yield case("ndimage.convolve", whole, np.array([[1, 2], [3, -1]]))
            yield case("ndimage.sobel", whole, axis=0)
            yield case("ndimage.laplace", whole)
    single = numbers("float32", 6, 7)
    yield case("ndimage.gaussian_filter", single, (0, 2.0), order=(0, 1), truncate=3.0)
    yield case("ndimage.gaussian_filter", image, (1.0, 2.0), mode=("wrap", "nearest"))
    yield case("ndimage.gaussian_filter", image, 1.0, radius=2)
    yield case("ndimage.gaussian_filter1d", numbers("float64", 30), 2, order=2)
    yield case("ndimage.convolve", numbers("float64", 4, 5, 3), numbers("float64", 3, 3, 2))
    spoiled = np.array([1.0, np.nan, 2, 3, np.inf, 4, 5, 6])
    yield case("ndimage.convolve", spoiled, np.array([1.0, 0, 2]))
    yield case("ndimage.convolve1d", spoiled, np.array([1.0, 0.5, 2]))


def of_stats() -> Iterator[Case]:
    x = np.array([-40, -5.5, -1, -0.0, 0, 0.3, 2, 9, 38, np.inf, -np.inf, np.nan])
    for name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf"):
        yield case(f"stats.norm.{name}", x)
        yield case(f"stats.norm.{name}", x, 1.5, 2.0)
        yield case(f"stats.norm.{name}", x[:, None], loc=np.array([0, 1]), scale=np.array([0.5, -1.0]))
        yield case(f"stats.norm.{name}", x.astype("float32"), scale=3)
        yield case(f"stats.norm.{name}", np.array(2))
    q = np.array([0, 1, 0.5, 1e-300, 1e-20, 0.2, 0.999, -0.1, 1.1, np.nan])
    for name in ("ppf", "isf"):
        yield case(f"stats.norm.{name}", q)
        yield case(f"stats.norm.{name}", q[:, None], np.array([0, 1]), np.array([2.0, -1.0]))
    y = np.array([-1, 0, 0.1, 1, 5, 30, 200, np.inf, np.nan])
    for name in ("chi2.cdf", "chi2.sf"):
        yield case(f"stats.{name}", y[:, None], np.array([1, 2, 7.5, 100, -1, 0]))
        yield case(f"stats.{name}", y, 3, loc=1.0, scale=2.0)
    for name in ("f.cdf", "f.sf"):
        yield case(f"stats.{name}", y[:, None], np.array([1, 2, 7.5, -1]), np.array([3, 10, 1, 2]))
        yield case(f"stats.{name}", y, 3, 4, loc=1.0, scale=2.0)
    for name in ("t.pdf", "t.cdf", "t.sf"):
        yield case(
            f"stats.{name}",
            np.array([-40, -3, -0.1, 0, 1e-5, 0.5, 2, 30, np.nan])[:, None],
            np.array([1, 2, 7.5, 100, -1]),
        )
    cov, mean, points = definite("float64", 3), numbers("float64", 3), numbers("float64", 4, 2, 3)
    for name in ("pdf", "logpdf"):
        name = f"stats.multivariate_normal.{name}"
        yield case(name, points, mean, cov)
        yield case(name, points[0, 0], mean, cov)
        yield case(name, points, cov=cov)
        yield case(name, points, mean, 2.0)
        yield case(name, points, mean, np.array([1, 2, 3]))
        yield case(name, points[..., 0])
        yield case(name, np.array([1.0, 2, 3]), 1.0, 2.0)


def of_distance() -> Iterator[Case]:
    metrics = (
        "euclidean",
        "sqeuclidean",
        "cityblock",
        "chebyshev",
        "canberra",
        "braycurtis",
        "hamming",
        "cosine",
    )
    for dtype in NUMBERS:
        a, b = numbers(dtype, 5, 3), numbers(dtype, 4, 3, seed=6)
        for metric in (*metrics, "correlation", "minkowski", "Euclidean", "cb"):
            yield case("spatial.distance.cdist", a, b, metric)
            yield case("spatial.distance.pdist", a, metric)
        yield case("spatial.distance.cdist", a, b, "minkowski", p=3)
        yield case("spatial.distance.pdist", a, metric="minkowski", p=1.5)
        yield case("spatial.distance.squareform", numbers(dtype, 6))
        yield case("spatial.distance.squareform", scipy.spatial.distance.squareform(numbers(dtype, 6)))
        yield case("spatial.distance.squareform", numbers(dtype, 10), force="tomatrix")
    for dtype in ("float64", "int64"):
        yield case("spatial.distance.euclidean", numbers(dtype, 5), numbers(dtype, 5, seed=6))
    spoiled = np.array([[1.0, np.nan], [np.inf, 2.0], [0.0, 0.0]])
    yield case("spatial.distance.cdist", spoiled, spoiled)


CHAPTERS = {
    "special": of_special,
    "linalg": of_linalg,
    "fft": of_fft,
    "signal": of_signal,
    "ndimage": of_ndimage,
    "stats": of_stats,
    "distance": of_distance,
}
