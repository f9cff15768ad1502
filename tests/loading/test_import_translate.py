"""`@np2tf.translate`: functions and classes wherever their source can be read."""

from __future__ import annotations

import contextlib
import functools
import inspect
import linecache
import pickle
import traceback
import warnings

import numpy as np
import pytest
from numpy import exp as e
from numpy import linalg as la

import np2tf
from np2tf.loading.findings import TranslationWarning

FACTOR = 2.0


def is_translated(function) -> bool:
    function = inspect.unwrap(function)
    return "tnp" in function.__code__.co_freevars + function.__code__.co_names


@np2tf.translate
def loops(x, n=3, *, scale: float = 1.0) -> np.ndarray:
    """Doc."""
    y = np.zeros(3)
    for i in range(n):
        y[i] = x[i] + np.sum(x) * scale
    return y + e(x) * FACTOR


def test_functions():
    x = np.arange(3.0)
    expected = np.arange(3.0) + 3 + 2 * np.exp(x)
    np.testing.assert_array_equal(np.asarray(loops(x)), expected)
    assert type(loops(np2tf.tnp.arange(3.0))) is np.ndarray
    assert is_translated(loops)
    assert loops.__doc__ == "Doc."
    assert loops.__name__ == "loops"
    assert loops.__module__ == __name__
    assert str(inspect.signature(loops)) == "(x, n=3, *, scale: 'float' = 1.0) -> 'np.ndarray'"
    assert inspect.getsource(loops).startswith("@np2tf.translate\ndef loops")
    assert pickle.loads(pickle.dumps(loops)) is loops


def test_globals_are_the_modules(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(globals(), "FACTOR", 0.0)
    np.testing.assert_array_equal(np.asarray(loops(np.ones(3))), 4 * np.ones(3))
    assert "tnp" not in globals()


def make(k):
    count = 0

    @np2tf.translate
    def inner(x):
        """Inner
        doc."""
        nonlocal count
        count += 1
        return np.sum(x) * k + count

    return inner


def test_closures():
    first, second = make(2.0), make(3.0)
    two_ones = np2tf.tnp.ones(2)
    assert [first(two_ones), first(two_ones), second(two_ones)] == [5.0, 6.0, 7.0]
    assert is_translated(first)
    assert inspect.cleandoc(first.__doc__ or "") == "Inner\ndoc."


def wrapper(function):
    @functools.wraps(function)
    def around(*args, **kwargs):
        return "around", function(*args, **kwargs)

    return around


@np2tf.translate
class Model:
    """A class."""

    size = 3

    def __init__(self, x):
        super().__init__()
        self.x = np.asarray(x)

    @property
    def norm(self):
        return la.norm(self.x)

    @norm.setter
    def norm(self, value):
        self.x = np.multiply(self.x, value / la.norm(self.x))

    @functools.cached_property
    def kept(self):
        return np.cumsum(self.x)

    @staticmethod
    def total(v):
        return np.sum(v) + 1

    @classmethod
    def of(cls, n):
        return cls(np.arange(n))

    @functools.lru_cache  # noqa: B019
    def cached(self, n):
        return np.sum(self.x) + n

    @wrapper
    def wrapped(self):
        return np.max(self.x)

    def __secret(self):
        return np.min(self.x)

    def told(self):
        return self.__secret()

    def fails(self):
        a = np.ones(3)
        return a[np.argmax(a) + 7]

    class Inner:
        def __call__(self, x):
            return np.prod(x)


def test_classes():
    model = Model([3.0, 4.0])
    assert type(model.x) is np.ndarray
    assert model.norm == 5.0
    model.norm = 10.0
    np.testing.assert_allclose(np.asarray(model.x), [6.0, 8.0])
    assert type(model.kept) is np.ndarray
    assert Model.total(np.ones(2)) == 3.0
    assert type(Model.of(3).x) is np.ndarray
    assert model.cached(1) == model.cached(1) == 15.0
    assert Model.cached.cache_info().hits == 1
    assert model.wrapped() == ("around", 8.0)
    assert model.told() == 6.0
    assert Model.Inner()([2.0, 3.0]) == 6.0
    assert Model.__doc__ == "A class."
    for function in (
        Model.__init__,
        Model.norm.fget,
        Model.norm.fset,
        Model.total,
        Model.cached,
        Model.wrapped,
    ):
        assert is_translated(function)
    assert type(pickle.loads(pickle.dumps(model))) is Model


def test_lines():
    with pytest.raises(IndexError) as caught:
        Model([1.0]).fails()
    own_frames = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == __file__]
    assert own_frames[-1].line == "return a[np.argmax(a) + 7]"
    assert own_frames[-1].name == "fails"


class Stacked:
    @np2tf.translate
    def alone(self, x):
        return np.mean(x)

    @wrapper
    @np2tf.translate
    def below(self, x):
        return np.mean(x)

    @np2tf.translate
    @wrapper
    def above(self, x):
        return np.mean(x)

    @np2tf.translate
    @staticmethod
    def static(x):
        return np.mean(x)

    @classmethod
    @np2tf.translate
    def of_class(cls, x):
        return cls.__name__, np.mean(x)

    @np2tf.translate
    @contextlib.contextmanager
    def managed(self, x):
        yield np.mean(x)


def test_decorators_in_any_order():
    x, stacked = np2tf.tnp.arange(3.0), Stacked()
    assert stacked.alone(x) == stacked.static(x) == 1.0
    assert stacked.below(x) == stacked.above(x) == ("around", 1.0)
    assert stacked.of_class(x) == ("Stacked", 1.0)
    with stacked.managed(x) as mean:
        assert mean == 1.0
    for name in ("alone", "below", "above", "static", "managed"):
        assert is_translated(
            inspect.getattr_static(Stacked, name).__func__ if name == "static" else vars(Stacked)[name]
        )


def test_lambdas_and_options():
    assert is_translated(np2tf.translate(lambda x: np.sin(x)))
    plain = np2tf.translate(options=np2tf.Options(jit=False))(loops.__wrapped__)
    assert inspect.isfunction(plain)


def test_translated_twice_is_translated_once():
    assert np2tf.translate(loops) is loops


def cell(text: str, name: str = "<cell 1>", **names: object) -> dict[str, object]:
    """Run a cell as notebooks do: its text is in linecache under the name of no file."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, object] = {"np": np, "np2tf": np2tf, "__name__": "__main__", **names}
    exec(compile(text, name, "exec"), space)
    return space


def test_cells_of_a_notebook():
    text = "@np2tf.translate\ndef f(x):\n    x = np.sqrt(x)\n    return x[np.sum(x).astype(int) + 9]\n"
    space = cell(text)
    assert is_translated(space["f"])
    with pytest.raises(IndexError) as caught:
        space["f"](np2tf.tnp.ones(3))
    own_frames = [f for f in traceback.extract_tb(caught.value.__traceback__) if f.filename == "<cell 1>"]
    assert [(f.lineno, f.line) for f in own_frames] == [(4, "return x[np.sum(x).astype(int) + 9]")]
    made = cell("@np2tf.translate\nclass C:\n    def m(self):\n        return np.ones(2)\n", "<cell 2>")
    assert type(made["C"]().m()) is np.ndarray


def refused(target, reason: str):
    with pytest.warns(TranslationWarning, match=f"NP2TF942 .*{reason}.*runs untranslated"):
        assert np2tf.translate(target) is target


def test_what_has_no_source_is_told_and_works():
    space: dict[str, object] = {"np": np}
    # (Python 3.13 keeps the text of `python -c`, which starts the processes of tests, as that of "<string>".)
    exec(compile("def q(x): return np.sum(x)", "<no text>", "exec"), space)
    refused(space["q"], "its source is not available")
    assert space["q"]([1, 2]) == 3
    refused(len, "it is a builtin_function_or_method")
    refused(3, "it is a int")
    refused(functools.partial(loops, 3), "it is a partial")


def test_another_text_than_that_of_the_code():
    space = cell("def f(x):\n    return np.sum(x)\n", "<cell 3>")
    linecache.cache["<cell 3>"] = (1, None, ["\n", "\n", "y = 3\n"], "<cell 3>")
    refused(space["f"], "not the source it was made from")


def test_two_in_one_line():
    f, g = lambda x: np.sin(x), lambda x: np.cos(x)
    refused(f, "defines several functions")
    assert g(0) == 1


def test_nothing_to_translate():
    def f(x):
        return x + 1

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np2tf.translate(f) is f
