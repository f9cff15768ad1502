"""How a call on eager tensors goes: what NumPy gives, refuses, warns of, and leaves to the operands."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.arrays.front.numpy_state import NUMPY

#: Reductions and running results, for outputs of every shape.
REDUCTIONS = (
    "np.add.reduce",
    "np.sum",
    "np.mean",
    "np.var",
    "np.median",
    "np.nansum",
    "np.max",
    "np.minimum.reduce",
)
SHAPES = ((3,), (1, 3), (4, 3), (1,), ())
#: `A` is a matrix, `V` a vector, `Given` makes an array of itself, `Answering` answers for itself.
CALLS = (
    *(f"{name}(A, axis=0, out=np.empty({shape}))" for name in REDUCTIONS for shape in SHAPES),
    *(f"np.cumsum(A, axis=0, out=np.empty({shape}))" for shape in SHAPES),
    *(f"np.clip(V, 0, 1, out=np.empty({shape}))" for shape in SHAPES),
    *(f"np.maximum.reduce(np.zeros({shape}), axis=0)" for shape in ((0,), (0, 0), (0, 3, 0), (3, 0))),
    "np.add.accumulate(V, out=np.empty((1, 3)))",
    "np.add.reduce(np.ones((1, 3)), axis=-1, keepdims=True, out=np.empty((3, 1)))",
    "np.add.reduce([], initial=None)",
    "np.add.reduce([1.0], initial=None)",
    "np.sum(np.array([-0.0, -0.0]), initial=-0.0)",
    "np.sum(np.array([-0.0, 1.0]), initial=-0.0)",
    "np.nanmean(A, axis=0, out=np.empty(3, object))",
    "np.divmod(V, 2, out=(None, np.empty(3)))",
    "np.frexp(V, out=np.empty(3))",
    # accumulation, element by element
    "np.hypot.accumulate(V)",
    "np.logaddexp.accumulate(np.arange(40) % 3.0)",
    # logarithms near one
    "np.log(np.array([1 + 1e-12j, 0.99995000042 - 0.009999833j, 2 + 3j, 1j, -1 + 0j]))",
    "np.log(np.array([1 + 3e-6j, 1 - 2e-5j], 'c8'))",
    # arguments
    "np.unravel_index([0], ())",
    "np.unravel_index(0, ())",
    "np.ravel_multi_index(([], []), (10, 3))",
    "np.ravel_multi_index(([0], [0]), (2**62 + 1, 2))",
    "np.ravel_multi_index(np.zeros((3, 1), int), (2, 1, 0), mode='clip')",
    "np.ravel_multi_index(np.zeros((3, 0), int), (2, 1, 0), mode='clip')",
    "np.unique(np.arange(10), axis=2)",
    "np.unique(np.arange(10), axis=0.5)",
    "np.isin(np.array([1, 100]), np.array([-128, 127], 'i1'), kind='table')",
    "np.isin(np.array([1, 100]), np.array([-1, 100], 'i1'), kind='table')",
    "np.linalg.lstsq(np.array([[1, 2], [3, 4]], 'f4'), np.array([2, 1], 'f4'), rcond=-1)",
    "np.random.default_rng(1).standard_normal(out=np.empty((6, 2))[::3])",
    "np.random.default_rng(1).standard_normal(out=np.empty((6, 2))[3:])",
    # arrays that only NumPy handles
    "np.apply_along_axis(lambda row: np.ma.masked_where(row % 5 == 0, row), 0, A)",
    "np.array(0.0) != np.array('a')",
    "np.array('a') == np.array(0.0)",
    # deprecated
    "np.fft.fftn(A, s=(2, 2))",
    "np.fft.irfft2(A, s=(None, 4))",
    "np.maximum(V, V, np.empty(3))",
    "np.copy(V).flat.__setitem__(1.0, 3)",
    "np.nanmedian(np.full((3, 3), np.nan), axis=0)",
    "np.nanmedian(np.full((3, 3), np.nan))",
    # protocols
    "np.minimum(Given(), Given())",
    "np.intersect1d(Given(), V)",
    "np.bincount(Given())",
    "np.require([1], like=Given())",
    "np.multiply(V, V, out=Answering())",
    "np.multiply.reduce(Answering())",
    "np.multiply.reduce(Answering(), 1, float, None, True)",
    "np.multiply.at(Answering(), [4, 2], 1.0)",
    "np.concatenate([V, Answering()])",
    "V.__array_function__(np.ravel, (np.ndarray,), V, {})",
    "V.__array_function__(func=np.ravel, types=(np.ndarray, Other), args=(A,), kwargs={})",
    "V.__array_function__(func=np.ravel, types=(np.ndarray,), args=(A,), kwargs={})",
    "V.__array_wrap__(np.arange(2))",
    "V.view(Derived).view(np.ndarray)",
    "V.view(Derived).view(type=np.ndarray)",
)


def _names(np: Any) -> dict[str, Any]:
    class Given:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.arange(3)

    class Answering:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
            return method, len(inputs), sorted(kwargs)

        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return func.__name__, len(types)

    class Other:
        __array_function__ = Answering.__array_function__

    class Derived(np.ndarray):  # type: ignore[name-defined,misc]
        pass

    given = {kind.__name__: kind for kind in (Given, Answering, Other, Derived)}
    return {"np": np, "A": np.arange(12.0).reshape(4, 3), "V": np.arange(3.0), **given}


def _outcome(module: Any, expression: str) -> Any:
    """Evaluate a call; return its result, or the class of its error, and the warnings."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found: Any = eval(expression, _names(module))
        except Exception as error:
            found = type(error).__name__
    return found, [
        (warning.category.__name__, str(warning.message).partition(".")[0][:60]) for warning in heard
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    if isinstance(value, np.ma.MaskedArray):
        return "masked", value.filled(0).tolist(), value.mask.tolist()
    if isinstance(value, (tnp.ndarray, np.ndarray)):
        held = np.asarray(value)
        return held.shape, str(held.dtype), held.tolist()
    return repr(value)


@pytest.mark.parametrize("expression", CALLS)
def test_goes_like_numpys(expression: str) -> None:
    """Results agree but for the last digits of floats, errors in their class, warnings in their words."""
    with np2tf.config.using(eager="tensorflow"):
        (found, heard), (wanted, expected) = (_outcome(module, expression) for module in (tnp, np))
        found, wanted = _plain(found), _plain(wanted)
    assert heard == expected
    _assert_close(found, wanted)


def _assert_close(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted), (found, wanted)
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for found_part, wanted_part in zip(found, wanted, strict=True):
            _assert_close(found_part, wanted_part)
    elif isinstance(wanted, (float, complex)):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=0)
        assert str(found).startswith("-") == str(wanted).startswith("-")
    else:
        assert found == wanted


@pytest.mark.parametrize(
    "expression",
    [
        *(["np.copy(np.arange(3)).flat.__setitem__(1.0, 3)"] if NUMPY >= (2, 4) else []),  # before, an error
        "np.fft.fftn(np.ones((2, 2)), s=(2, 2))",
        "np.random.shuffle({0: 1, 1: 2})",
    ],
)
def test_warnings_name_the_line_that_called(expression: str) -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with np2tf.config.using(eager="tensorflow"):
            eval(compile(expression, "the caller", "eval"), {"np": tnp})
    assert [warning.filename for warning in heard] == ["the caller"]


def test_gradient_of_a_complex_logarithm_near_one() -> None:
    z = tnp.array([1 + 1e-9j, 0.9 - 0.1j, 3 + 1j])
    with np2tf.config.using(eager="tensorflow"):
        held = np2tf.device_put(np.asarray(z))
        tf = pytest.importorskip("tensorflow")
        with tf.GradientTape() as tape:
            tape.watch(held.tensor)
            logarithm = tf.math.real(tnp.log(held).tensor)
        np.testing.assert_allclose(
            tape.gradient(logarithm, held.tensor).numpy(), 1 / np.conj(np.asarray(z)), rtol=1e-12
        )
