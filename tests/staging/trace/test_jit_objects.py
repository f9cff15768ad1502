"""`np2tf.jit` on methods, and on functions that take objects, lists and dicts apart and change them."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.core.counts import counts
from np2tf.core.errors import StagingError
from tests.helpers.differential import HEAD, compare

SCALE = 2.0


@pytest.fixture(autouse=True)
def compile_at_once():
    with np2tf.config.using(tier="compile", jit="strict"):
        yield


class Filter:
    gain = 1.5

    def __init__(self):
        self.x = np.zeros(3)
        self.history = []
        self.params = {"w": np.ones(3)}
        self.count = 0
        self.name = "filter"
        self.unknown = object()  # never touched by the methods below

    @np2tf.jit
    def predict(self, z):
        self.x = self.x * 2 + z * self.gain
        self.count += 1
        return self.x

    @np2tf.jit
    def write(self, z):
        self.x = tnp.at(self.x)[0].set(z)
        self.params["w"] = self.params["w"] - self._rate() * z
        self.params["v"] = self.x * SCALE

    def _rate(self):
        return 0.5

    @np2tf.jit
    def record(self, z):
        self.history.append(self.x + z)
        return self.history

    @np2tf.jit
    def accumulate(self, z, n):
        def step(i, total):
            self.x = self.x + z[i]
            return total + self.x[0]

        total = np2tf.for_loop(np2tf.range(n), step, 0.0)
        np2tf.cond(total > 3.0, self._reset, lambda: None)
        return total

    def _reset(self):
        self.x = self.x * 0


class Counter:
    def __init__(self) -> None:
        self.t, self.u = 0.0, np.ones(3)

    def step(self) -> Any:
        self.t += 0.5
        self.u = self.u + self.t
        return self.u.sum()


def test_a_method_reads_and_rebinds_attributes():
    kalman, z = Filter(), np.arange(3.0)
    before = counts.compiled
    found = kalman.predict(z)
    assert counts.compiled == before + 1
    assert found is kalman.x
    assert kalman.count == 1
    np.testing.assert_array_equal(kalman.x, z * 1.5)
    kalman.predict(z)
    np.testing.assert_array_equal(kalman.x, z * 4.5)
    assert type(kalman.count) is int
    assert kalman.count == 2


def test_a_counter_becomes_an_input():
    kalman = Filter()
    for _ in range(20):
        kalman.predict(np.zeros(3))
    assert kalman.count == 20
    assert Filter.predict.trace_count <= 5


def test_numbers_that_a_method_assigns_need_one_trace():
    """What is known of the arguments' classes is known anew once their methods have been followed."""
    counter = Counter()
    advanced = np2tf.jit(lambda counter: counter.step(), tier="compile")
    for _ in range(3):
        advanced(counter)
    assert advanced.trace_count == 1
    assert counter.t == 3 * 0.5


def test_writes_to_attributes_and_what_they_hold():
    kalman = Filter()
    x, params, w = kalman.x, kalman.params, kalman.params["w"]
    kalman.write(3.0)
    assert kalman.x is x
    assert x[0] == 3
    assert kalman.params is params
    assert params["w"] is not w
    np.testing.assert_array_equal(params["w"], [-0.5, -0.5, -0.5])
    np.testing.assert_array_equal(params["v"], [6, 0, 0])


def test_what_a_method_reads_elsewhere_may_change(monkeypatch):
    kalman = Filter()
    kalman.write(1.0)
    monkeypatch.setitem(globals(), "SCALE", 10.0)
    monkeypatch.setattr(Filter, "gain", 0.0)
    monkeypatch.setattr(Filter, "_rate", lambda self: 0.0)
    kalman.write(1.0)
    np.testing.assert_array_equal(kalman.params["v"], [10, 0, 0])
    np.testing.assert_array_equal(kalman.params["w"], [0.5, 0.5, 0.5])
    kalman.predict(np.ones(3))
    np.testing.assert_array_equal(kalman.x, [2, 0, 0])


def test_a_list_that_grows():
    kalman = Filter()
    history = kalman.history
    for k in range(3):
        assert kalman.record(float(k)) is history
    assert [float(x[0]) for x in history] == [0, 1, 2]


def test_attributes_assigned_in_staged_loops_and_branches():
    kalman = Filter()
    assert kalman.accumulate(np.full(20, 0.1), 3) == pytest.approx(0.1 + 0.2 + 0.3)
    np.testing.assert_allclose(kalman.x, np.full(3, 0.3))
    assert kalman.accumulate(np.full(20, 0.1), 12) == pytest.approx(sum(0.3 + 0.1 * k for k in range(1, 13)))
    np.testing.assert_array_equal(kalman.x, np.zeros(3))


@dataclasses.dataclass
class State:
    position: np.ndarray
    speed: float


OF_THE_MODULE = State(np.ones(2), 1.0)


class Pair(NamedTuple):
    first: State
    second: State


def test_objects_in_and_out():
    @np2tf.jit
    def step(pair, dt):
        first, second = pair
        second.position = second.position + first.position
        return State(first.position + dt * first.speed, first.speed * 2), second

    for _ in range(2):
        a, b = State(np.zeros(2), 3.0), State(np.ones(2), 1.0)
        new, second = step(Pair(a, b), 0.5)
        assert second is b
        assert type(new) is State
        np.testing.assert_array_equal(new.position, [1.5, 1.5])
        assert new.speed == 6
        assert type(b.position) is np.ndarray
    assert step.trace_count == 1


def test_one_object_twice_is_one_object():
    @np2tf.jit
    def f(a, b):
        a.position = a.position + 1
        return b.position * (2 if a is b else 3)

    a = State(np.zeros(2), 0.0)
    np.testing.assert_array_equal(f(a, a), [2, 2])
    np.testing.assert_array_equal(f(a, State(np.ones(2), 0.0)), [3, 3])


def test_objects_that_hold_each_other():
    class Node:
        def __init__(self, value):
            self.value = value
            self.other = self

    @np2tf.jit
    def f(node):
        node.value = node.value + node.other.other.value
        return node.value

    node = Node(np.ones(2))
    np.testing.assert_array_equal(f(node), [2, 2])
    np.testing.assert_array_equal(node.value, [2, 2])


def test_slots_and_properties():
    class Slotted:
        __slots__ = ("x",)

        def __init__(self, x):
            self.x = x

        @property
        def double(self):
            return self.x * 2

        @double.setter
        def double(self, value):
            self.x = value / 2

    @np2tf.jit
    def f(one):
        one.double = one.double + 2
        return one.double

    slotted = Slotted(np.ones(2))
    np.testing.assert_array_equal(f(slotted), [4, 4])
    np.testing.assert_array_equal(slotted.x, [2, 2])


def test_attributes_under_computed_names():
    @np2tf.jit
    def f(one, name):
        return getattr(one, name) * 2

    np.testing.assert_array_equal(f(State(np.ones(2), 4.0), "position"), [2, 2])
    assert f(State(np.ones(2), 4.0), "speed") == 8


def test_lists_and_dicts_that_are_arguments_are_changed():
    @np2tf.jit
    def f(x, out, table):
        out.append(x * 2)
        table["n"] = table["n"] + 1
        table["x"] = out[0]

    first = np.zeros(1)
    out, table = [first], {"n": 0}
    for _ in range(3):
        f(np.ones(2), out, table)
    assert len(out) == 4
    assert out[0] is first
    assert table["n"] == 3
    assert table["x"] is first


def test_what_cannot_be_taken_apart_is_refused():
    class Closing:
        def __del__(self):
            pass

    class Watched:
        def __setattr__(self, name, value):
            super().__setattr__(name, value)

    @np2tf.jit
    def f(one, x):
        return x * 2

    for argument in (Closing(), Watched(), object(), iter([1])):
        with pytest.raises(StagingError) as caught:
            f(argument, np.ones(2))
        assert caught.value.code == "NP2TF520"


class Labelled(NamedTuple):
    """The items of a tuple that may have attributes as well."""

    x: Any
    factor: float


class LabelledPair(Labelled):
    pass


PAIR = LabelledPair(np.ones(2), 3.0)


@np2tf.jit
def scaled(pair: Any) -> Any:
    return pair.x * (100.0 if getattr(pair, "label", None) == "large" else pair.factor)


@np2tf.jit
def scaled_by_name(x: Any) -> Any:
    return x * PAIR.x * (100.0 if getattr(PAIR, "label", None) == "large" else PAIR.factor)


def test_tuples_with_attributes_keep_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace makes a tuple again from its items, so a tuple that also has attributes is refused."""
    np.testing.assert_array_equal(scaled(LabelledPair(np.ones(2), 3.0)), [3, 3])
    labelled = LabelledPair(np.ones(2), 3.0)
    labelled.label = "large"  # type: ignore[attr-defined]
    with pytest.raises(StagingError) as caught:
        scaled(labelled)
    assert caught.value.code == "NP2TF520"
    with np2tf.config.using(jit="on"), pytest.warns(UserWarning, match="LabelledPair"):
        np.testing.assert_array_equal(scaled(labelled), [100, 100])
    np.testing.assert_array_equal(scaled_by_name(np.ones(2)), [3, 3])
    monkeypatch.setattr(f"{__name__}.PAIR", labelled)
    with np2tf.config.using(jit="on"), pytest.warns(UserWarning, match="LabelledPair"):
        np.testing.assert_array_equal(scaled_by_name(np.ones(2)), [100, 100])


def test_attributes_of_classes_and_functions_must_not_change():
    class Counted:
        count = 0

        def __init__(self):
            self.x = np.ones(2)

    @np2tf.jit
    def f(one, x):
        Counted.count = type(one).count + 1
        return x * one.x

    def helper():
        return 1

    @np2tf.jit
    def g(x):
        np2tf.cond(x[0] > 0, lambda: setattr(helper, "count", 1), lambda: None)
        return x * 2

    @np2tf.jit
    def h(one, x):
        np2tf.cond(x[0] > 5, lambda: setattr(type(one), "count", 5), lambda: None)
        return x * one.count

    counted = Counted()
    for call in (lambda: f(counted, np.ones(2)), lambda: g(np.ones(2)), lambda: h(counted, np.ones(2))):
        with pytest.raises(StagingError):
            call()
    assert Counted.count == 0
    assert not hasattr(helper, "count")


def test_an_object_read_by_name_must_not_change():
    shared = State(np.ones(2), 1.0)

    @np2tf.jit
    def f(x):
        shared.speed = shared.speed + 1
        return x * shared.position

    @np2tf.jit
    def g(one, x):
        one.speed = 5.0
        return x * shared.speed

    @np2tf.jit
    def h(x):
        def write(speed):
            OF_THE_MODULE.speed = speed

        before = OF_THE_MODULE.speed  # what the side that is traced last gives it is what it has
        np2tf.cond(x[0] > 0, lambda: write(x[1]), lambda: write(before))
        return x * 2

    for call in (lambda: f(np.ones(2)), lambda: g(shared, np.ones(2)), lambda: h(np.full(2, 9.0))):
        with pytest.raises(StagingError):
            call()
        assert shared.speed == OF_THE_MODULE.speed == 1
    with np2tf.config.using(jit="on"), pytest.warns(UserWarning, match="runs unjitted"):
        np.testing.assert_array_equal(g(shared, np.ones(2)), [5, 5])


def test_an_object_read_by_name_is_read_anew():
    shared = State(np.ones(2), 1.0)

    @np2tf.jit
    def f(x):
        return x * shared.position * shared.speed

    np.testing.assert_array_equal(f(np.ones(2)), [1, 1])
    shared.speed = 3.0
    np.testing.assert_array_equal(f(np.ones(2)), [3, 3])
    shared.position = np.full(2, 2.0)
    np.testing.assert_array_equal(f(np.ones(2)), [6, 6])


def test_returned_iterators_and_inner_functions_are_refused():
    @np2tf.jit
    def f(x):
        return map(abs, x)

    @np2tf.jit
    def g(x):
        return lambda: x

    for function in (f, g):
        with pytest.raises(StagingError):
            function(np.ones(2))


SETTING = f"""{HEAD}
class Layer:
    def __init__(self, bias):
        self.bias, self.units, self.grads = bias, 3, {{"W": 0.0}}

    def backward(self, grad):
        self.grads["W"] = grad * 2
        if self.bias and self.units > 1:
            self.grads["b"] = grad.sum()
        return grad @ grad


def f(x, bias):
    layer = Layer(bias)
    return layer.backward(x), sorted(layer.grads), layer.grads["W"]
"""


def test_a_setting_decides_what_is_written_into_a_dict() -> None:
    compare(SETTING, "np.arange(3.0), True", "np.arange(3.0), False", "np.arange(3.0), None")


def test_an_array_as_a_setting_leaves_the_function_to_the_host() -> None:
    compare(SETTING, "np.arange(3.0), np.array(True)", "np.arange(3.0), np.array(False)", ran=None)


class Shifting:
    """An object with methods that return a slice, alone and inside other values."""

    def __init__(self) -> None:
        self.weights = np.arange(3.0)

    def shifted(self, part: slice, by: int) -> slice:
        """Compute the ends."""
        if part.start + by < self.weights.shape[0] - 3:
            raise IndexError("out of bounds")
        return slice(part.start + by, part.stop + by, part.step)

    def several(self, part: slice, by: int) -> Any:
        """Return slices in a list and a dict."""
        return [slice(by, None), {"a": slice(part.start, part.stop + by)}], by, self.weights * by


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
@pytest.mark.parametrize("method", ["shifted", "several"])
def test_slices_that_are_returned_hold_numbers(method: str) -> None:
    """The slices that a compiled function returns hold numbers, and no staged values."""
    function = getattr(Shifting, method)
    jitted = np2tf.jit(function, tier="compile")
    for by in (1, 2, -1, 3, 2):
        with np2tf.config.using(jit="on"):
            found = jitted(Shifting(), slice(1, 9, 1), by)
        assert repr(found) == repr(function(Shifting(), slice(1, 9, 1), by))


@pytest.mark.parametrize("setting", [None, ..., NotImplemented])
def test_pythons_singletons_are_constants(setting: Any) -> None:
    """Also NotImplemented, which functions of Python 3.10 have as a default."""

    @np2tf.jit
    def scaled(x: Any, setting: Any = NotImplemented) -> Any:
        return x * (2.0 if setting is NotImplemented else 3.0)

    wanted = scaled.__wrapped__(np.ones(2), setting)
    assert np.array_equal(scaled(np.ones(2), setting), wanted)
    assert np.array_equal(scaled(np.ones(2)), [2.0, 2.0])
