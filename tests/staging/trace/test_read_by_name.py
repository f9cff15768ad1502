"""Arrays that a traced function reads by name: inputs of its graph, and NumPy's arrays to other threads."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
import threading
import types
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.core.errors import StagingError
from np2tf.staging.values.array_stand_in import StandIn


class Pair(NamedTuple):
    """Two arrays."""

    first: np.ndarray
    second: np.ndarray


class Holder:
    """A class with an array, whose objects have an array too."""

    shared = np.array([1.0, 2.0, 3.0])

    def __init__(self) -> None:
        self.own = np.array([4.0, 5.0, 6.0])

    @np2tf.jit
    def scaled(self, x: Any) -> Any:
        """Read an attribute."""
        return x * self.own[0]

    def weighted(self, x: Any) -> Any:
        """Read a global of this module, and attributes."""
        return x * self.own + self.shared + W


class Meta(type):
    """A class of classes, with an array."""

    of_classes = np.array([2.0, 3.0, 5.0])


class Strange(metaclass=Meta):
    """A class whose objects are no arguments."""

    shared = np.array([7.0, 8.0, 9.0])

    def __del__(self) -> None:
        """Do something that only Python can do."""


class Colour(Enum):
    """Constants with a property that reads a global."""

    RED = 1

    @property
    def weights(self) -> np.ndarray:
        """An array of the module."""
        return W


class Slotted:
    """An object with slots."""

    __slots__ = ("own",)

    def __init__(self) -> None:
        self.own = np.array([1.0, 2.0, 3.0])


W = np.arange(1.0, 4.0)
SAME = W
MATRIX = np.arange(6.0).reshape(2, 3)
LIST = [np.arange(3.0), {"a": np.ones(3)}]
DICT = {"w": np.arange(3.0), "inner": [np.ones(3)]}
TUPLE = (np.arange(3.0), [np.ones(3)], (np.full(3, 2.0),))
PAIR = Pair(np.arange(3.0), np.ones(3))
HOLDER = Holder()
SLOTTED = Slotted()
SETTINGS = types.ModuleType("settings_read_by_name")
SETTINGS.weights = np.arange(3.0)  # type: ignore[attr-defined]
KEPT: list[Any] = []


def helper(x: Any) -> Any:
    """A function that reads a global."""
    return x + W.sum()


def defaulted(x: Any, w: Any = W, *, v: Any = SAME) -> Any:
    """A function with arrays for defaults."""
    return x * w[0] + v


defaulted.weights = np.array([3.0, 1.0, 2.0])  # type: ignore[attr-defined]
SCALED, WEIGHTED = HOLDER.scaled, HOLDER.weighted


@pytest.fixture(autouse=True)
def compiled() -> Iterator[None]:
    """Compile all; no fallback goes unseen. Afterwards everything is as it was."""
    sys.modules["settings_read_by_name"] = SETTINGS
    before = [(array, array.copy()) for array in everything()]
    with np2tf.config.using(tier="compile", jit="strict"):
        yield
    del sys.modules["settings_read_by_name"]
    KEPT.clear()
    for (array, values), now in zip(before, everything(), strict=True):
        assert now is array
        array[...] = values


def everything() -> list[np.ndarray]:
    """Every array of this module, where it is found."""
    found = [W, SAME, MATRIX, LIST[0], LIST[1]["a"], DICT["w"], DICT["inner"][0], *PAIR]
    found += [TUPLE[0], TUPLE[1][0], TUPLE[2][0], HOLDER.own, Holder.shared, SLOTTED.own]
    found += [*defaulted.__defaults__, *defaulted.__kwdefaults__.values()]
    return [*found, SETTINGS.weights, defaulted.weights, Meta.of_classes, Strange.shared]


def unseen(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, into which np2tf does not look for what it reads: it takes it for one of Python's own."""
    function.__module__ = "builtins"
    return function


#: Functions of an array `x` that also read an array by name.
READS: dict[str, Callable[[Any], Any]] = {
    "an element": lambda x: x * W[0],
    "a negative element and a slice": lambda x: x[1:] * W[-1] + W[:2],
    "an index array": lambda x: x + W[np.array([0, 1, 1]).tolist()],
    "a reduction": lambda x: x * W.sum() + W.max(),
    "a transpose": lambda x: MATRIX.T @ MATRIX @ x + MATRIX.T[:, 0],
    "on the left": lambda x: W + x,
    "on the right": lambda x: x - W,
    "alone": lambda x: -W * 2.0 + abs(W) ** 2,
    "two of them": lambda x: W @ W + MATRIX * W,
    "compared": lambda x: tnp.where(W > 2.0, x, W),
    "a function of NumPy": lambda x: np.sin(W) + np.concatenate([W, x])[:3] + np.sum(W),
    "a function of np2tf": lambda x: tnp.sin(W) + tnp.concatenate([W, x])[:3] + tnp.sum(W),
    "sequences of arrays": lambda x: tnp.stack([W, x, W]) + np.vstack((W, x, W)),
    "methods with it": lambda x: x.dot(W) + W.dot(x) + W.reshape(3, 1) + W.astype(np.float32),
    "iterated": lambda x: x + sum(w for w in W),
    "its length and shape": lambda x: x * len(W) * W.shape[0] * W.ndim * W.size,
    "unpacked": lambda x: x + (lambda a, b, c: a - b + c)(*W),
    "a view": lambda x: (lambda v: v[0] + x)(W[1:]),
    "a copy": lambda x: W.copy() + x,
    "iterated with others": lambda x: [a * b for a, b in zip(W, x, strict=True)],
    "by two names": lambda x: (x + W) * SAME,
    "a list": lambda x: x * LIST[0] + LIST[1]["a"],
    "a dict": lambda x: x * DICT["w"] + DICT["inner"][0],
    "all of a dict": lambda x: [x * w[0] for w in (DICT["w"], *DICT["inner"])],
    "a tuple": lambda x: x * TUPLE[0] + TUPLE[1][0] + TUPLE[2][0],
    "a named tuple": lambda x: x * PAIR.first + PAIR.second,
    "an object": lambda x: x * HOLDER.own[0] + HOLDER.own,
    "an object with slots": lambda x: x * SLOTTED.own[0] + SLOTTED.own,
    "a class through an object": lambda x: x * HOLDER.shared[0],
    "a class": lambda x: x * Holder.shared[0],
    "a method": lambda x: HOLDER.weighted(x),
    "a module": lambda x: x * SETTINGS.weights[1],
    "an attribute of a function": lambda x: x * defaulted.weights[0],
    "a metaclass": lambda x: x * Strange.of_classes[0],
    "a class of no arguments": lambda x: x * Strange.shared[0],
    "a property of a constant": lambda x: x * Colour.RED.weights[0],
    "a jitted method of an object": lambda x: SCALED(x),
    "a method of an object": lambda x: WEIGHTED(x),
    "a helper": lambda x: helper(x) + helper(W),
    "defaults": lambda x: defaulted(x),
    "returned": lambda x: (x, W, LIST[0], [W, {"w": SAME}]),
    "chosen by data": lambda x: np2tf.cond(x[0] > 0, lambda: W * x, lambda: x),
    "in a loop": lambda x: np2tf.for_loop(range(20), lambda k, a: a + W[k % 3] * W, x),
    "as the state of a loop": lambda x: np2tf.for_loop(range(20), lambda k, a: a * 0.5 + x, W),
    "looped over": lambda x: np2tf.for_loop(MATRIX, lambda row, a: a + row, x),
}


def same(found: Any, expected: Any) -> None:
    """Compare arrays, also inside tuples, lists and dicts."""
    if isinstance(expected, (tuple, list)):
        assert len(found) == len(expected)
        for found_part, expected_part in zip(found, expected, strict=True):
            same(found_part, expected_part)
    elif isinstance(expected, dict):
        same(list(found.values()), list(expected.values()))
    else:
        assert type(found) is not StandIn
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-12)


@pytest.mark.parametrize("case", READS)
def test_a_change_in_place_is_seen(case: str) -> None:
    """The result is NumPy's, also after every array has changed, and without another trace."""
    function = READS[case]
    jitted = np2tf.jit(function)
    for step in range(3):
        x = np.array([1.0, -2.0, 3.0]) * (step - 1.5)
        same(jitted(x), function(x))
        for array in {id(array): array for array in everything()}.values():
            array += step + 1
    assert jitted.trace_count == 1


def test_closure_variable() -> None:
    w = np.arange(3.0)
    f = np2tf.jit(lambda x: x * w[1] + w)
    for k in range(3):
        w[:] = [1, k, k + 1]
        same(f(np.ones(3)), np.ones(3) * w[1] + w)
    assert f.trace_count == 1
    w = np.zeros(3)
    same(f(np.ones(3)), np.zeros(3))


def test_function_with_defaults() -> None:
    w = np.arange(3.0)

    @np2tf.jit
    def f(x: Any, w: Any = w, *, v: Any = w) -> Any:
        return x * w[1] + v

    for k in range(3):
        w[1] = k
        same(f(np.ones(3)), np.ones(3) * w[1] + w)
    assert f.trace_count == 1


def test_a_global_that_is_bound_later() -> None:
    """A call that does not come to read it may be the first."""
    space: dict[str, Any] = {"np2tf": np2tf}
    exec("@np2tf.jit\ndef f(x, late):\n    return x * LATE[0] if late else x\n", space)
    same(space["f"](np.ones(3), False), np.ones(3))
    space["LATE"] = np.arange(3.0)
    for k in range(3):
        space["LATE"][0] = k
        same(space["f"](np.ones(3), True), np.full(3, k))


def test_a_module_imported_in_the_function() -> None:
    """The function reads it by a name of its own."""

    @np2tf.jit
    def f(x: Any) -> Any:
        import settings_read_by_name
        from settings_read_by_name import weights

        return x * settings_read_by_name.weights[0] + weights[1]

    for k in range(3):
        SETTINGS.weights[:] = [k, 2 * k, 1]
        same(f(np.ones(3)), np.full(3, 3.0 * k))
    assert f.trace_count == 1


def test_functions_as_arguments() -> None:
    """An array that a function argument reads by name is an input as well."""
    w = np.arange(3.0)
    apply = np2tf.jit(lambda function, x: function(x))
    function = lambda x: x * w[0] + w  # noqa: E731
    for k in range(3):
        w[0] = k
        same(apply(function, np.ones(3)), np.ones(3) * w[0] + w)
    assert apply.trace_count == 1


def test_methods_as_arguments() -> None:
    """Their objects are arguments, whether or not they are read by name as well."""
    apply = np2tf.jit(lambda function, x: function(x) + HOLDER.own)
    for k in range(3):
        HOLDER.own[0] = k
        same(apply(HOLDER.scaled, np.ones(3)), HOLDER.scaled(np.ones(3)) + HOLDER.own)
    assert apply.trace_count == 1


def test_an_argument_under_a_name() -> None:
    """An array under two names is one input: a write under one name is seen under the other name."""

    @np2tf.jit
    def f(x: Any) -> Any:
        tnp.at(x)[0].set(10.0)
        first = W[0] + SAME[0]
        tnp.at(W)[1].set(20.0)
        return first + x[1], x

    total, returned = f(W)
    assert float(total) == 40.0
    assert returned is W
    assert W.tolist() == [10.0, 20.0, 3.0]


def test_a_method_of_an_argument() -> None:
    """Its module's globals, and what its class holds."""
    f = np2tf.jit(lambda instance, x: instance.weighted(x))
    for k in range(3):
        holder = Holder()
        same(f(holder, np.ones(3)), holder.weighted(np.ones(3)))
        W[0], Holder.shared[1] = k, -k
    assert f.trace_count == 1


def test_written_by_traced_code() -> None:
    """It is written back, and what comes after sees it."""

    @np2tf.jit
    def f(x: Any) -> Any:
        tnp.at(W)[0].add(x[0])
        tnp.at(LIST[0])[1].set(W[0])
        HOLDER.own[2] = W[0]
        tnp.at(W).sort()
        return W[0] + W.sum() + LIST[0]

    def expected(x: np.ndarray, w: np.ndarray, entry: np.ndarray, own: np.ndarray) -> Any:
        w[0] += x[0]
        entry[1] = own[2] = w[0]
        w.sort()
        return w[0] + w.sum() + entry

    for k in range(3):
        copies = W.copy(), LIST[0].copy(), HOLDER.own.copy()
        x = np.full(3, 10.0 * k + 1)
        same(f(x), expected(x, *copies))
        same([W, LIST[0], HOLDER.own], copies)
    assert f.trace_count == 1


def test_augmented_assignment_of_a_global() -> None:
    space: dict[str, Any] = {"W": np.arange(3.0), "np2tf": np2tf}
    exec("@np2tf.jit\ndef f(x):\n    global W\n    W += x\n    return W * 2\n", space)
    w = space["W"]
    same(space["f"](np.ones(3)), [2, 4, 6])
    same(space["f"](np.ones(3)), [4, 6, 8])
    assert space["W"] is w
    assert w.tolist() == [2, 3, 4]


def test_written_on_a_side_of_a_branch() -> None:
    def double() -> None:
        tnp.at(HOLDER.own)[0].multiply(2.0)

    @np2tf.jit
    def f(x: Any) -> Any:
        np2tf.cond(x[0] > 0, double, lambda: None)
        return HOLDER.own + x

    for sign in (1.0, -1.0, 1.0):
        own_array = HOLDER.own.copy()
        own_array[0] *= 2 if sign > 0 else 1
        same(f(np.full(3, sign)), own_array + sign)
        same(HOLDER.own, own_array)
    assert f.trace_count == 1


#: Uses of `W` that run on the host: they need its values while staging, or read its memory.
NEEDS_VALUES: dict[str, Callable[[Any], Any]] = {
    "float": lambda x: x * float(W[0]),
    "truth": lambda x: x if W[0] > 0 else -x,
    "all known": lambda x: x * W.tolist()[0],
    "an array of NumPy's": lambda x: x * np.asarray(W)[0],
    "a copy of NumPy's": lambda x: x * np.array(W)[0],
    "the memory": lambda x: x * memoryview(W)[0],
    "bytes": lambda x: x * np.frombuffer(bytes(W))[0],
    "text": lambda x: x * len(repr(W)),
    "a method of the class": lambda x: x * np.ndarray.sum(W),
    "pickled": lambda x: x * pickle.loads(pickle.dumps(W))[0],
}


@pytest.mark.parametrize("case", NEEDS_VALUES)
@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
def test_values_are_never_frozen(case: str) -> None:
    """Such code runs on the host, and sees what is there."""
    function = NEEDS_VALUES[case]
    jitted = np2tf.jit(function)
    with np2tf.config.using(jit="on"):
        for k in range(3):
            W[:] = [(-1.0) ** k * (k + 1), 10.0**k, k]
            same(jitted(np.ones(3)), function(np.ones(3)))


def _rebind() -> None:
    global W
    W = W * 2


def _element() -> None:
    LIST[0] = LIST[0] * 2


def _attribute() -> None:
    HOLDER.own = HOLDER.own * 2


#: Changes outside of a function: a trace makes the change once, and a graph never makes it.
CHANGES: dict[str, Callable[[], Any]] = {
    "a name": _rebind,
    "an element of a list": _element,
    "a value of a dict": lambda: DICT.update(w=DICT["w"] * 2),
    "an attribute": _attribute,
    "a class": lambda: setattr(Holder, "shared", Holder.shared * 2),
    "a module": lambda: setattr(SETTINGS, "weights", SETTINGS.weights * 2),
    "appended": lambda: KEPT.append(W),
    "appended what was computed": lambda: KEPT.append(W * 2),
    "taken out": lambda: LIST.pop(),
}


@pytest.mark.parametrize("case", CHANGES)
def test_what_the_trace_changes_is_refused_and_undone(case: str) -> None:
    change = CHANGES[case]

    def f(x: Any) -> Any:
        change()
        return x * W.sum() + LIST[0] + DICT["w"] + HOLDER.own + Holder.shared + SETTINGS.weights + len(KEPT)

    before = everything()
    with pytest.raises(StagingError) as error:
        np2tf.jit(f)(np.ones(3))
    assert error.value.code == "NP2TF553"
    assert all(now is array for now, array in zip(everything(), before, strict=True))
    assert KEPT == []


def test_names_are_restored_after_an_exception() -> None:
    seen: list[type] = []
    note = unseen(lambda value: seen.append(type(value)))

    def f(x: Any) -> Any:
        note(W)
        raise KeyError(W.shape)

    kept = everything()
    with pytest.raises((KeyError, StagingError)):
        np2tf.jit(f)(np.ones(3))
    assert seen[0] is StandIn
    assert all(now is array for now, array in zip(everything(), kept, strict=True))


def test_nothing_is_left_of_a_trace() -> None:
    f = np2tf.jit(lambda x: x * W + LIST[0] + HOLDER.own)
    f(np.ones(3))
    gc.collect()
    assert not [stand_in for stand_in in gc.get_objects() if type(stand_in) is StandIn]
    assert HOLDER.__dict__.keys() == {"own"}


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
def test_arrays_of_other_classes_are_numpys_affair() -> None:
    """Their operators have meanings of their own."""
    matrix, masked = np.matrix([[1.0, 2.0], [3.0, 4.0]]), np.ma.array([1.0, 2.0], mask=[True, False])
    cases = [lambda x: matrix * x, lambda x: x * matrix[0, 0], lambda x: x * masked.sum()]
    with np2tf.config.using(jit="on"):
        for function in cases:
            same(np2tf.jit(function)(np.ones((2, 2))), function(np.ones((2, 2))))


# -- other threads -------------------------------------------------------------------------------------------


def seen_elsewhere(function: Callable[[], Any]) -> Any:
    """Call `function` in another thread while this thread traces code that reads `W`; return its result."""
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(function())
        except Exception as error:
            found.append(error)

    @unseen
    def elsewhere(value: Any) -> None:
        assert type(value) is StandIn
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    def f(x: Any) -> Any:
        elsewhere(W)
        return x * W

    np2tf.jit(f)(np.ones(3))
    return found[0]


#: Uses of an array in another thread.
ELSEWHERE: dict[str, Callable[[], Any]] = {
    "an element": lambda: W[0],
    "a slice": lambda: W[1:],
    "an operator": lambda: W + 1,
    "reflected": lambda: 1 - W,
    "with an array": lambda: np.ones(3) + W,
    "with itself": lambda: W @ W + W * SAME,
    "a comparison": lambda: np.arange(1.0, 4.0) == W,
    "a ufunc": lambda: np.sin(W),
    "a reduction of a ufunc": lambda: np.add.reduce(W),
    "a function": lambda: np.concatenate([W, W]),
    "a method": lambda: W.sum(),
    "a method with it": lambda: np.ones(3).dot(W),
    "an index": lambda: np.arange(5.0)[W.astype(int)],
    "as an index": lambda: np.arange(6.0)[np.asarray(W, int)],
    "assigned": lambda: np.copyto(found := np.zeros(3), W) or found,
    "as the output": lambda: np.add(W, 0.0, out=W),
    "as an array": lambda: np.asarray(W),
    "of another dtype": lambda: np.array(W, np.float32),
    "iterated": lambda: np.array(list(W)),
    "its sum": lambda: sum(W),
    "its attributes": lambda: np.array([W.shape[0], W.ndim, W.size, W.nbytes, len(W), W.strides[0]]),
    "copied": lambda: copy.deepcopy(W),
    "pickled": lambda: pickle.loads(pickle.dumps(W)),
    "its text": lambda: np.array([repr(W), str(W), f"{W}"]),
    "a member": lambda: np.array([2.0 in W, 9.0 in W, isinstance(W, np.ndarray)]),
    "with np2tf": lambda: tnp.sin(W) + tnp.sum(W),
    "a jitted function": lambda: np2tf.jit(lambda x: x * W[0] + W)(np.ones(3)),
    "an argument of one": lambda: np2tf.jit(lambda x: x * 2 + W)(W),
    "linear algebra": lambda: np.linalg.norm(W) + np.linalg.solve(np.eye(3), W),
    "TensorFlow": lambda: __import__("tensorflow").convert_to_tensor(W).numpy(),
}


@pytest.mark.parametrize("case", ELSEWHERE)
def test_another_thread_has_numpys_array(case: str) -> None:
    function = ELSEWHERE[case]
    expected, found = function(), seen_elsewhere(function)
    if isinstance(found, Exception):
        raise found
    assert type(found) in (type(expected), np.ndarray)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))


def test_another_thread_writes() -> None:
    """In place: the array itself has changed, and the name is not bound anew."""
    w = W

    def write() -> Any:
        global W
        W[0] = 50.0
        W += 1.0
        return W

    seen_elsewhere(write)
    assert W is w
    assert W.tolist() == [51.0, 3.0, 4.0]


def test_two_threads_trace_at_the_same_time() -> None:
    """The thread whose trace ends first leaves the other thread the arrays that it reads."""
    inside, go_on = threading.Event(), threading.Event()
    found: list[Any] = []

    @unseen
    def wait() -> None:
        inside.set()
        assert go_on.wait(60)

    def slow(x: Any) -> Any:
        wait()
        return x * W[0] + LIST[0]

    slow_jitted = np2tf.jit(slow)
    thread = threading.Thread(target=lambda: found.append(slow_jitted(np.ones(3))))
    thread.start()
    assert inside.wait(60)
    quick = np2tf.jit(lambda x: x * W[1] + LIST[0])
    same(quick(np.ones(3)), W[1] + LIST[0])
    assert type(W) is StandIn
    go_on.set()
    thread.join()
    assert type(W) is np.ndarray
    same(found[0], W[0] + LIST[0])
    W[0] = 100.0
    same(slow_jitted(np.ones(3)), W[0] + LIST[0])


def test_a_thread_computes_while_others_trace() -> None:
    stop, wrong = threading.Event(), []
    w = W.copy()

    def work() -> None:
        while not stop.is_set():
            total = W[0] + W.sum() + np.sin(W) + np.asarray(W) + LIST[1]["a"] + HOLDER.own @ W
            expected = w[0] + w.sum() + np.sin(w) + w + np.ones(3) + np.array([4.0, 5.0, 6.0]) @ w
            if type(total) is not np.ndarray or not np.array_equal(total, expected):
                wrong.append(total)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for k in range(25):
            f = np2tf.jit(lambda x, k=k: x * W[0] + LIST[1]["a"] * k + HOLDER.own)
            same(f(np.ones(3)), w[0] + k * np.ones(3) + HOLDER.own)
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not wrong
