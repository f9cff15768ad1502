"""Attributes, texts and errors of arrays on TensorFlow, in the details that NumPy's own tests ask for."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp

BELOW_ONE = float(1 - np.finfo("f8").eps)
SELF_CONTAINING: list[Any] = []
SELF_CONTAINING.append(SELF_CONTAINING)


class Answering:
    """An object that is an array if it is asked to."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array if dtype is None else self.array.astype(dtype)


class Key(tuple):  # type: ignore[type-arg]
    """A key of a class of its own."""


def resized(x: Any, *shape: Any, **named: Any) -> Any:
    x.resize(*shape, **named)
    return x


def written(x: Any, key: Any, value: Any) -> Any:
    x[key] = value
    return x


def went_through(iterator: Any) -> list[Any]:
    return [int(next(iterator)), [int(number) for number in iterator], iterator.index, list(iterator)]


EXPRESSIONS: list[Callable[[Any], Any]] = [
    # flags, sizes and pointers
    lambda m: m.ones(3).flags == m.zeros((2, 3)).T.flags,
    lambda m: m.ones((2, 3)).flags == m.zeros((4, 5)).flags,
    lambda m: m.ones((2, 3)).flags != m.zeros((4, 5))[:, 1:].flags,
    lambda m: m.ones((2, 3)).flags == 1287,
    lambda m: [m.ones((2, 3)).flags.num, m.ones((2, 3)).T.flags.num, m.ones(5)[::2].flags.num],
    lambda m: m.ones(1).flags.__hash__,
    lambda m: sys.getsizeof(m.ones(90)) - sys.getsizeof(m.ones(10)),
    lambda m: sys.getsizeof(m.ones((10, 1))) - sys.getsizeof(m.ones(10)),
    lambda m: sys.getsizeof(m.ones(90)[...]) - sys.getsizeof(m.ones(10)[...]),
    lambda m: m.empty_like(m.ones((2, 3)), shape=(4,), order="A").flags.c_contiguous,
    lambda m: m.zeros_like(m.ones((2, 3)).T, shape=(4, 5, 6), order="A").strides,
    lambda m: m.ones_like(m.ones((2, 3)).T, shape=(4, 5, 6)).strides,
    # other byte orders
    lambda m: m.zeros_like(np.ones(3, ">i4")).dtype,
    lambda m: m.full_like(np.ones(3, ">f8"), 2).dtype,
    lambda m: m.array([1, 0, 256]).view(">i8"),
    # how arrays are made
    lambda m: m.array([1, 2, 3], ndmax=0, dtype=object).shape,
    lambda m: m.array([1, 2, 3], copy="always"),
    lambda m: m.array([1, 2, 3], copy=np._CopyMode.NEVER),  # type: ignore[attr-defined]
    lambda m: m.array(m.ones((2, 3)), copy=np._CopyMode.NEVER, order="F"),  # type: ignore[attr-defined]
    lambda m: m.array(m.ones((2, 3)), copy=np._CopyMode.IF_NEEDED, dtype=int),  # type: ignore[attr-defined]
    lambda m: m.array(m.ones((2, 3)), copy=np._CopyMode.ALWAYS),  # type: ignore[attr-defined]
    lambda m: m.array(m.ones((2, 3)), copy=0, dtype=int),
    lambda m: m.ones(3).astype(int, copy=np._CopyMode.NEVER),  # type: ignore[attr-defined]
    lambda m: m.array(Answering(m.arange(3)), dtype=float),
    lambda m: m.array([Answering(m.arange(3)), [1, 2, 3]]),
    lambda m: m.arange(4)[Answering(m.array([1, 2]))],
    lambda m: m.array(SELF_CONTAINING, dtype=object).ndim,
    lambda m: m.array([SELF_CONTAINING] * 2, dtype=object).shape,
    lambda m: m.frombuffer(b"12345678", "u1").setflags(write=True),
    lambda m: m.frombuffer(bytearray(b"12345678"), "u1").flags.writeable,
    # two names of the same integers
    lambda m: m.array([1, 2], dtype=np.longlong).dtype.char,
    lambda m: m.array(np.ulonglong(3)).dtype.char,
    lambda m: m.array([[1, 2]], np.longlong)[:, 1:].T.dtype.char,
    lambda m: [m.array([1, 2], np.longlong).base, m.array([1, 2], np.longlong).flags.num],
    lambda m: repr(written(m.array([1, 2], np.longlong), 1, 7)),
    lambda m: m.array([1, 2]).view(np.int64).dtype.char,
    lambda m: m.array(1 + 2j, "complex64").view("int64"),
    lambda m: m.array(1.5).view("complex64"),
    # what is put into arrays
    lambda m: written(m.zeros(3, int), 1, np.float64("nan")),
    lambda m: written(m.zeros(3, int), slice(None), np.float64("nan")),
    lambda m: written(m.zeros(3, int), 1, np.timedelta64(3, "s")),
    lambda m: written(m.zeros(3, int), 1, np.float64(2.75)),
    lambda m: written(m.zeros(3), 1, np.timedelta64(3, "s")),
    lambda m: m.copyto(m.arange(3), 3.0, casting="safe"),
    lambda m: m.copyto(m.arange(3, dtype="u1"), 3, casting="equiv"),
    lambda m: m.copyto(m.arange(3.0, dtype="f4"), 3.0, casting="equiv"),
    lambda m: m.copyto(m.arange(3.0), m.arange(3), casting="no"),
    lambda m: m.copyto(m.arange(3), 3, casting="sometimes"),
    # arguments
    lambda m: m.where(m.arange(3) > 1, x=1, y=2),
    lambda m: m.putmask(a=m.arange(3), mask=[1, 1, 1], values=3),
    lambda m: m.vdot(a=m.arange(3), b=m.arange(3)),
    lambda m: m.searchsorted(m.arange(5), 0, sorter=[-1, 0, 1, 2, 3]),
    lambda m: m.searchsorted(m.arange(5)[::-1].copy(), 3, sorter=[4, 3, 2, 1, 0]),
    lambda m: m.argmax(m.array([3.0, 1.0])[0], axis=-1, out=m.empty((1,), int), keepdims=True),
    lambda m: m.argmin(m.array(3.0), axis=0, keepdims=True).shape,
    lambda m: m.array(3.0).argmax(keepdims=True).shape,
    lambda m: m.ones((5, 5))[Key(([1], [1]))].shape,
    lambda m: m.ones((5, 5))[Key((1, 1))],
    lambda m: written(m.zeros((3, 3)), Key(([1], [2])), 5),
    lambda m: m.ones(3).mT,
    lambda m: m.arange(5, dtype="i4")[::2].view("S3"),
    # methods
    lambda m: resized(m.eye(3), None),
    lambda m: resized(m.eye(3)),
    lambda m: resized(m.eye(3), "hi"),
    lambda m: resized(m.eye(3), -1),
    lambda m: resized(m.eye(3), 3, refcheck="hi"),
    lambda m: resized(m.arange(6.0), (2, 4), refcheck=False),
    lambda m: resized(m.zeros((10, 0))[...], (0, 100)),
    lambda m: m.arange(3.0).to_device("cpu", stream=1),
    lambda m: m.arange(3.0).to_device("nonsense"),
    lambda m: m.arange(3).__array_wrap__(m.array([3, 4])),
    lambda m: m.arange(3).__array_wrap__(m.array(3), None, True),
    lambda m: m.arange(3).__array_wrap__(m.array(3)).shape,
    lambda m: m.arange(3).__setattr__("device", "other"),
    lambda m: went_through(m.arange(6).reshape(2, 3).flat),
    lambda m: m.arange(3).flat.__delitem__(1),
    lambda m: [
        m.ones((4, 4)).flat.__array__().flags.writeable,
        m.ones(4)[::2].flat.__array__().flags.writeable,
    ],
    # tolerances
    lambda m: m.isclose(m.array(BELOW_ONE, "f4"), 2, atol=0, rtol=BELOW_ONE / 2),
    lambda m: m.isclose(m.array(BELOW_ONE, "f4"), 2, atol=0, rtol=np.float64(BELOW_ONE / 2)),
    lambda m: m.isclose(m.array([1, 2]), m.array([1, 3]), atol=np.inf),
    lambda m: m.isclose(m.array([1, 2]), m.array([1, 3]), rtol=m.array([np.nan, 1.0])),
    lambda m: m.allclose(m.array([1, 2]), m.array([1, 3]), rtol=np.nan, atol=0.5),
]


@pytest.fixture(autouse=True)
def on_tensorflow() -> Iterator[None]:
    """New arrays are tensors."""
    before, np2tf.config.eager = np2tf.config.eager, "tensorflow"
    yield
    np2tf.config.eager = before


def outcome(expression: Callable[[Any], Any], module: Any) -> tuple[Any, ...]:
    """The value as NumPy has it, or the class of the error and its words; and the warnings."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            value = expression(module)
        except Exception as error:
            return type(error), str(error), [str(warning.message) for warning in told]
    if module is tnp and isinstance(value, np.ndarray):
        value = np.asarray(value)
    shown = (value.dtype, value.shape, value.tolist()) if isinstance(value, np.ndarray) else value
    return shown, [(warning.category, str(warning.message)) for warning in told]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=range(len(EXPRESSIONS)))
def test_as_numpy_has_it(expression: Callable[[Any], Any]) -> None:
    assert outcome(expression, tnp) == outcome(expression, np)


@pytest.mark.parametrize(
    "name",
    [
        *("__array__", "__array_function__", "__array_ufunc__", "__array_wrap__", "__complex__", "__copy__"),
        *("__deepcopy__", "__reduce__", "argmax", "resize", "to_device"),
    ],
)
def test_methods_have_numpys_signature(name: str) -> None:
    if hasattr(np.ndarray, name):
        try:
            expected = signature(getattr(np.ndarray, name))
        except ValueError:  # before NumPy 2.4
            return
        assert signature(vars(type(tnp.arange(3)))[name]) == expected


@pytest.mark.skipif(
    not hasattr(np.concatenate.__wrapped__, "__text_signature__"),
    reason="before NumPy 2.4 its functions in C have no signature to compare",
)
@pytest.mark.parametrize("name", ["empty_like", "concatenate", "where"])
def test_functions_in_c_are_wrapped_as_numpys(name: str) -> None:
    assert getattr(tnp, name).__wrapped__ is getattr(np, name).__wrapped__


def test_pointers_keep_the_array() -> None:
    array = tnp.arange(5.0)
    seen, pointers = weakref.ref(array), array.ctypes
    del array
    assert seen() is not None
    del pointers
    assert seen() is None


def test_resized_views_see_the_same_memory() -> None:
    array = tnp.arange(6)
    view = array[...]
    array.resize((2, 3))
    array[0, 1] = 10
    assert view.tolist() == [0, 10, 2, 3, 4, 5]


def test_an_array_is_on_its_device() -> None:
    array = tnp.arange(3)
    assert array.to_device("cpu") is array


class Derived(np.ndarray):
    """A class of NumPy's arrays."""


@pytest.mark.parametrize("wanted", ["S4", Derived])
def test_what_numpy_sees_alone_it_may_write_to(wanted: Any) -> None:
    """A view is a copy on the host: it is for reading where somebody else sees the memory."""
    name = tnp.zeros(8, np.uint8)
    row = tnp.zeros((2, 8), np.uint8)[0]
    held, by_another_name = [name], row
    for _ in range(300):  # also when the interpreter has made it quick
        # Not within an assertion, where pytest gives every value a name.
        alone = (
            tnp.zeros(8, np.uint8).view(wanted).flags.writeable,
            tnp.zeros(16, np.uint8)[8:].view(wanted).flags.writeable,
            (name + name).view(wanted).flags.writeable,
        )
        seen = (
            name.view(wanted).flags.writeable,
            name[4:].view(wanted).flags.writeable,
            name.reshape(2, 4).view(wanted).flags.writeable,
            held[0].view(wanted).flags.writeable,
            row.view(wanted).flags.writeable,
            tnp.asarray(name).view(wanted).flags.writeable,
        )
        assert all(alone)
        assert not any(seen)
    assert by_another_name is row


def test_a_class_may_write_while_it_is_made() -> None:
    class Filled(np.ndarray):
        def __array_finalize__(self, made_of: Any) -> None:
            self.fill(9)

    made = tnp.arange(3).view(Filled)
    assert made.tolist() == np.arange(3).view(Filled).tolist()


def test_outputs_of_another_class_say_what_the_result_is() -> None:
    class Output:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> str:
            return f"{ufunc.__name__} {[type(output) is Output for output in named['out']]}"

    assert tnp.sin(tnp.arange(2.0), Output()) == np.sin(np.arange(2.0), Output())  # type: ignore[comparison-overlap]
    assert tnp.modf(tnp.arange(2.0), None, Output()) == np.modf(np.arange(2.0), None, Output())  # type: ignore[comparison-overlap]
