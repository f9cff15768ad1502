"""NumPy's functions as values in translated modules: tables, keys, attributes, arguments, comparisons."""

from __future__ import annotations

import functools
import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from numpy.testing.overrides import get_overridable_numpy_array_functions

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array
from np2tf.core import rules

SOURCE = """
import numpy as np
from functools import partial, reduce
from numpy import ones_like, sqrt as root
from numpy.linalg import norm

KINDS = {"ones": ones_like, "root": root, "norm": norm, "sum": np.sum}
NAMES = {np.add: "add", np.sum: "sum", root: "root", np.zeros: "zeros"}
EXACT = {np.shape, np.ndim}
HANDLED = {}
INFINITE = frozenset([np.log, np.reciprocal])


def implements(*functions):
    def register(handler):
        HANDLED.update(dict.fromkeys(functions, handler))
        return handler
    return register


@implements(np.sum, np.mean)
def total(boxes, *args, **kwargs):
    return "handled", float(np.asarray(boxes.values).max())


@implements(np.concatenate)
def concatenate(boxes):
    return Box(np.concatenate([box.values for box in boxes]))


class Box:
    def __init__(self, values):
        self.values = np.asarray(values)

    def __array_function__(self, func, types, args, kwargs):
        if func not in HANDLED:
            return NotImplemented
        return HANDLED[func](*args, **kwargs)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [x.values if isinstance(x, Box) else x for x in inputs]
        if ufunc is np.multiply or ufunc == np.square:
            return Box(getattr(ufunc, method)(*plain, **kwargs))
        if ufunc in (np.add, np.subtract):
            return NAMES.get(ufunc, "none"), getattr(ufunc, method)(*plain, **kwargs)
        return NotImplemented


class Layer:
    act = np.tanh
    squash = staticmethod(np.exp)

    def __init__(self, pool=np.max):
        self.pool = pool
        self.steps = [np.abs, root, partial(np.sum, axis=-1)]

    def __call__(self, x):
        for step in self.steps:
            x = step(x)
        return self.pool(Layer.act(x)) + self.squash(0.5)


def apply(name, x):
    return KINDS[name](x)


def chosen(k, x):
    f = np.sin if k else np.cos
    return f(x), reduce(np.maximum, [x, -x, 2 * x]), [g(x).sum() for g in (np.exp, np.square)]


def looped(x, f=np.hypot, make=np.zeros_like):
    out = make(x)
    for i in range(len(x)):
        out[i] = f(x[i], 1.0)
    return out


def mapped(x):
    return np.apply_along_axis(np.sum, 0, x), list(map(np.negative, x))


def asked(f):
    return (
        f is np.add, f is not np.sum, np.sum is f, f == np.zeros, np.add != f, f in (np.add, np.zeros),
        f not in [root, np.sum], f in NAMES, NAMES.get(f), f in EXACT,
    )


def matched(f):
    match f:
        case np.add | np.sum:
            return "first"
        case np.zeros:
            return "second"
    return "none"


def table():
    return [KINDS["ones"], Layer.act, Layer().pool, looped.__defaults__]
"""


def load(folder: Path, translated: bool) -> Any:
    """The module, as it is or translated."""
    path = folder / "function_values.py"
    path.write_text(SOURCE)
    if translated:
        return np2tf.import_module("function_values_translated", path=str(path))
    module = type(np)("function_values_plain")
    exec(compile(SOURCE, str(path), "exec"), vars(module))
    return module


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """The module as it is, and translated."""
    folder = tmp_path_factory.mktemp("values")
    return load(folder, translated=False), load(folder, translated=True)


X = np.array([1.0, 4.0, 0.25])
#: Calls of both modules on an array.
CALLS = {
    "table": lambda m, x: [m.apply(name, x) for name in ("ones", "root", "norm", "sum")],
    "attributes": lambda m, x: m.Layer()(x),
    "default": lambda m, x: m.Layer(np.min)(x),
    "chosen": lambda m, x: [m.chosen(k, x) for k in (0, 1)],
    "looped": lambda m, x: [m.looped(x), m.looped(x, np.maximum), m.looped(x, np.power, np.ones_like)],
    "mapped": lambda m, x: m.mapped(x),
}


def flat(value: Any) -> list[Any]:
    """The numbers in nested results."""
    return [np.asarray(item) for item in tf.nest.flatten(value)]


def agree(found: Any, wanted: Any) -> None:
    """Compare nested results."""
    found, wanted = flat(found), flat(wanted)
    assert [one.dtype for one in found] == [one.dtype for one in wanted]
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_calls(modules: tuple[Any, Any], call: Any) -> None:
    """On the host, on TensorFlow, under a tape, and in a graph of the program's own."""
    plain, translated = modules
    wanted = call(plain, X)
    agree(call(translated, X), wanted)
    agree(call(translated, np2tf.device_put(X)), wanted)
    agree(tf.function(lambda t: call(translated, tnp.asarray(t)))(tf.constant(X)), wanted)
    w = tf.Variable(X)
    with tf.GradientTape() as tape:
        result = tf.add_n(
            [tf.reduce_sum(tf.convert_to_tensor(one)) for one in tf.nest.flatten(call(translated, w))]
        )
    assert tape.gradient(result, w) is not None


@pytest.mark.parametrize("name", ["looped", "chosen", "mapped"])
def test_compiled(modules: tuple[Any, Any], name: str) -> None:
    """Compiled code calls np2tf's function in the place of NumPy's, also one that makes arrays."""
    plain, translated = modules
    args = (1, X) if name == "chosen" else (X,)
    agree(np2tf.jit(getattr(translated, name), tier="compile")(*args), getattr(plain, name)(*args))


FUNCTIONS = ["add", "sum", "zeros", "sqrt", "shape", "sin", "linalg.norm"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_questions(modules: tuple[Any, Any], name: str) -> None:
    """A function may be NumPy's own, from code that is not translated, or np2tf's."""
    plain, translated = modules
    of_numpy, of_np2tf = (operator.attrgetter(name)(module) for module in (np, tnp))
    wanted = plain.asked(of_numpy), plain.matched(of_numpy)
    assert (translated.asked(of_numpy), translated.matched(of_numpy)) == wanted
    # What only looks into a table finds NumPy's functions, which are its keys.
    assert translated.asked(of_np2tf)[:7] == wanted[0][:7]
    assert translated.matched(of_np2tf) == wanted[1]


def test_a_question_about_an_array(modules: tuple[Any, Any]) -> None:
    """An array is no function; nothing compares its elements."""
    for x in (X, np2tf.device_put(X)):
        assert np2tf.numpy_function(x) is x


def test_callers_that_are_not_translated(modules: tuple[Any, Any]) -> None:
    """They find NumPy's own functions."""
    plain, translated = modules
    assert translated.table() == plain.table()
    assert all(f is g for f, g in zip(translated.KINDS.values(), plain.KINDS.values(), strict=True))
    assert translated.NAMES.keys() == plain.NAMES.keys()
    assert translated.EXACT == plain.EXACT
    assert translated.HANDLED.keys() == plain.HANDLED.keys()


@pytest.mark.parametrize("device", [np.asarray, np2tf.device_put], ids=["host", "tensorflow"])
def test_protocols(modules: tuple[Any, Any], device: Any) -> None:
    """NumPy hands its own functions to the protocols, also if the call was of np2tf's function."""
    plain, translated = modules
    for module in (np, tnp):
        box, other = translated.Box(device(X)), plain.Box(X)
        assert module.sum(box) == np.sum(other) == ("handled", 4.0)
        agree(module.concatenate([box, box]).values, np.concatenate([other, other]).values)
        agree(
            module.multiply(box, box).values,
            np.multiply(other, other).values,
        )
        agree(module.square(box).values, np.square(other).values)
        assert module.add(box, 1.0)[0] == np.add(other, 1.0)[0] == "add"
        with pytest.raises(TypeError):
            module.prod(box)


def test_the_rules_know_what_numpy_lets_arrays_override() -> None:
    """NumPy's own function is a value only where it asks arrays for their protocols. A function of lengths or
    numbers, and a function written in C that only knows `like=`, ask nobody.
    """
    listed = get_overridable_numpy_array_functions()
    ranges = {"numpy.linspace", "numpy.logspace", "numpy.geomspace"}
    for name, rule in rules.rules().items():
        try:
            function = operator.attrgetter(name.removeprefix("numpy."))(np)
        except AttributeError:
            continue
        if not callable(function):
            assert not rule.overridable
            continue
        if name.endswith(".at") or name.startswith("numpy.ndarray.") or rule.removed or rule.acts:
            continue
        is_replaced = operator.attrgetter(name.removeprefix("numpy."))(tnp) is not function
        asks = isinstance(function, np.ufunc) or (function in listed and type(function) is type(np.sum))
        if rule.same_object and asks:
            continue
        assert rule.overridable == (is_replaced and asks and name not in ranges), name


def test_one_function_in_caches() -> None:
    """TensorFlow's own caches, and Python's, keep NumPy's functions and np2tf's apart."""
    t = tf.constant([1.0, 2.0])

    @functools.lru_cache
    def last(f: Any) -> Any:
        return f

    assert last(np.sum) is np.sum
    assert last(tnp.sum) is tnp.sum
    for name in (
        "sum",
        "mean",
        "cumsum",
        "sort",
        "diff",
        "concatenate",
        "sin",
        "linalg.norm",
        "fft.fft",
        "zeros_like",
    ):
        f = operator.attrgetter(name)(tnp)
        argument = [t, t] if name == "concatenate" else t
        numpys = operator.attrgetter(name)(np)
        wanted = numpys(tf.nest.map_structure(np.asarray, argument))
        for given in (
            tf.function(lambda x, f=f: f(x))(argument),
            tf.function(lambda x, f: f(x))(argument, f),
            tf.function(lambda x, fs: fs["f"](x))(argument, {"f": f}),
        ):
            np.testing.assert_allclose(given, wanted, rtol=1e-6)


def test_a_jitted_function_is_an_argument_of_tf_function() -> None:
    """Its own call is what runs, in which raw tensors are arrays."""
    jitted = np2tf.jit(lambda x: (x.T * 2).sum())
    t = tf.constant([[1.0, 2.0]])
    assert float(tf.function(lambda x, f=jitted: f(x))(t)) == 6
    assert float(tf.function(lambda x, f: f(x))(t, jitted)) == 6
    assert is_array(np2tf.device_put(X))
