"""`np2tf.jit`: what it takes, how often it traces, and what becomes of what it cannot compile."""

from __future__ import annotations

import threading
import types
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.core.counts import counts
from np2tf.core.errors import StagingError
from np2tf.core.settings import program
from np2tf.staging.host.jit import UnjittedWarning
from np2tf.staging.tiers import constants
from tests.helpers.differential import load, translation


@pytest.fixture(autouse=True)
def compile_at_once():
    with np2tf.config.using(tier="compile", jit="strict"):
        yield


def test_every_kind_of_argument():
    @np2tf.jit
    def f(a, b, c, nested, k, text, nothing, *, scale=2.0):
        if text != "mean" or nothing is not None:
            raise TypeError
        (first, second), more = nested["pair"], nested["more"]
        return (a * k + b + c) * scale + first - second * more[0]

    expected = (np.ones(3) * 3 + 2 + 1) * 2 + 1 - 2 * 5
    nested = {"pair": (np.ones(3), tnp.ones(3) * 2), "more": [np.full(3, 5.0)]}
    found = f(np.ones(3), tnp.full(3, 2.0), tf.ones(3, tf.float64), nested, 3, "mean", None)
    np.testing.assert_array_equal(np.asarray(found), expected)
    assert f.trace_count == 1
    found = f(np.ones(3), tnp.full(3, 2.0), tf.ones(3, tf.float64), nested, 3, "mean", None, scale=4.0)
    np.testing.assert_array_equal(np.asarray(found), (np.ones(3) * 3 + 3) * 4 - 9)


def test_strings_and_none_choose_code():
    @np2tf.jit
    def f(x, how=None):
        return x.sum() if how == "sum" else x * 1 if how is None else x.mean()

    x = np.arange(3.0)
    assert f(x, "sum") == 3
    assert f(x, how="mean") == 1
    np.testing.assert_array_equal(f(x), x)
    assert f(x, "sum") == 3
    assert f.trace_count == 3


def test_equal_calls_trace_once():
    @np2tf.jit
    def f(x, k):
        return x * k

    for _ in range(5):
        f(np.ones(3), 2.5)
        f(np.zeros(3), 2.5)
    assert f.trace_count == 1
    f(np.ones(4), 2.5)
    f(np.ones(3, np.float32), 2.5)
    assert f.trace_count == 3


def test_varying_numbers_become_inputs():
    @np2tf.jit
    def f(x, k, n):
        return x * k + n

    for value in np.linspace(0, 1, 40).tolist():
        np.testing.assert_array_equal(f(np.ones(3), value, 7), value + np.full(3, 7.0))
    assert f.trace_count <= 5
    for value in range(40):
        np.testing.assert_array_equal(f(np.ones(3), 0.5, value), np.full(3, 0.5 + value))
    assert f.trace_count <= 5


def test_numbers_of_each_type_stay_what_they_are():
    @np2tf.jit
    def f(x, k):
        return x * k

    x = np.ones(2, np.float32)
    for k in (2, 2.0, True, np.float64(2), np.float32(2), np.int64(2), 2j, np.int8(2)):
        assert np.asarray(f(x, k)).dtype == (x * k).dtype, type(k)
    for k in range(20):
        assert np.asarray(f(x, k)).dtype == np.float32
        assert np.asarray(f(x, np.float64(k))).dtype == np.float64


def test_numbers_that_must_be_known():
    """A size cannot become an input: each is traced, and in the end the function is not compiled any more."""

    @np2tf.jit
    def f(x, n):
        return np.asarray(x) * 0 + tnp.ones(n).sum()

    with np2tf.config.using(jit="on"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjittedWarning)
        for n in range(1, 2 * constants.TRACES_A_CACHE):
            assert f(tnp.ones(2), n)[0] == n
    assert f.trace_count <= 2 * constants.TRACES_A_CACHE


def test_calls_that_have_nothing_in_common():
    """Code that is hardly ever used again is not made without end, though each kind of calls is new."""

    @np2tf.jit(tier="compile")
    def f(x, weights):
        return sum(x * weight for weight in weights.values())

    with np2tf.config.using(jit="on"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjittedWarning)
        for k in range(2 * constants.TRACES_A_FUNCTION):
            np.testing.assert_array_equal(f(np.ones(2), {f"w{k}": 2.0}), [2.0, 2.0])
    assert f.trace_count == constants.TRACES_A_FUNCTION


def test_negative_zero_and_nan_are_told_apart():
    @np2tf.jit
    def f(x, k):
        return tnp.copysign(x, k)

    assert f(np.ones(1), 0.0)[0] == 1
    assert f(np.ones(1), -0.0)[0] == -1
    assert f(np.ones(1), -0.0)[0] == -1
    assert f(np.ones(1), 0.0)[0] == 1
    assert f(np.ones(1), 1)[0] == 1
    assert f(np.ones(1), True)[0] == 1


def test_results_of_every_kind():
    @np2tf.jit
    def f(x):
        s = x.sum()
        return {
            "array": x * 2,
            "number": s,
            "list": [x.shape, x.ndim, None, "text"],
            "flag": s > 1,
            "tuple": (x[0], 3, 2.5),
        }

    found = f(np.arange(3.0))
    np.testing.assert_array_equal(found["array"], [0, 2, 4])
    assert type(found["number"]) is np.float64
    assert found["number"] == 3
    assert found["list"] == [(3,), 1, None, "text"]
    assert type(found["flag"]) is np.bool_
    assert found["tuple"] == (0.0, 3, 2.5)


def test_a_list_or_dict_that_is_an_argument_is_returned_itself():
    @np2tf.jit
    def f(x, params, more):
        return params, {"again": (more["inner"], [x, params])}, x * 2

    x, params, more = np.ones(2), [np.zeros(2), 3], {"inner": {"y": np.ones(1)}}
    for _ in range(2):
        found, nested, double = f(x, params, more)
        assert found is params
        assert nested["again"][0] is more["inner"]
        assert nested["again"][1][0] is x
        assert nested["again"][1][1] is params
        assert type(params[0]) is np.ndarray
        assert params[1] == 3
        np.testing.assert_array_equal(double, [2, 2])
    assert f.trace_count == 1


def test_keyword_only_and_default_arrays():
    default = tnp.arange(3.0)

    @np2tf.jit
    def f(x, y=default, *, z=None, **more):
        y = tnp.at(y)[0].add(1)
        return x + y + (0 if z is None else z) + sum(more.values())

    np.testing.assert_array_equal(f(np.zeros(3)), [1, 1, 2])
    np.testing.assert_array_equal(f(np.zeros(3)), [2, 1, 2])
    np.testing.assert_array_equal(f(np.zeros(3), z=np.ones(3), w=np.ones(3)), [5, 3, 4])
    assert default[0] == 3


def test_methods():
    class Model:
        def __init__(self, scale):
            self.scale = scale

        @np2tf.jit
        def apply(self, x):
            return x * self.scale

        @staticmethod
        @np2tf.jit
        def twice(x):
            return x * 2

    with np2tf.config.using(jit="on"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnjittedWarning)
        model = Model(3.0)
        np.testing.assert_array_equal(model.apply(np.ones(2)), [3, 3])
        model.scale = 4.0
        np.testing.assert_array_equal(model.apply(np.ones(2)), [4, 4])
        np.testing.assert_array_equal(Model(5.0).apply(x=np.ones(2)), [5, 5])
    np.testing.assert_array_equal(Model.twice(np.ones(2)), [2, 2])


def test_jitted_calls_jitted():
    @np2tf.jit
    def inner(x):
        x = tnp.at(x)[0].set(5)
        return x * 2

    @np2tf.jit
    def outer(x):
        return inner(x) + inner(x[1:]).sum()

    x = np.ones(3)
    np.testing.assert_array_equal(outer(x), [22, 14, 14])
    np.testing.assert_array_equal(x, [5, 5, 1])
    assert inner.trace_count == 0


def test_recursion():
    @np2tf.jit
    def power(x, n):
        return x if n == 1 else x * power(x, n - 1)

    np.testing.assert_array_equal(power(np.full(3, 2.0), 5), np.full(3, 32.0))


def test_what_takes_too_long_to_trace_is_left_to_the_host(monkeypatch: pytest.MonkeyPatch):
    text = "def f(x, n):\n    for i in range(n):\n        x = np.sin(x) + x[::-1]\n    return x\n"
    f = load(translation(f"import numpy as np\n\n\n{text}"))["f"]
    monkeypatch.setattr(constants, "PATIENCE_OF_USERS", float("-inf"))
    with np2tf.config.using(tier="auto"):
        assert f.explain(np.ones(3), 100).code == "NP2TF540"
    with np2tf.config.using(tier="compile"):
        assert f.explain(np.ones(3), 100).runs == "xla"


def test_integers_that_vary_are_inputs_from_the_second_trace_on():
    @np2tf.jit
    def scaled(x, n):
        return x * n

    @np2tf.jit
    def padded(x, n):
        return tnp.concatenate([x, tnp.zeros(n)])

    for n in range(1, 6):
        np.testing.assert_array_equal(scaled(np.ones(2), n), [n, n])
        np.testing.assert_array_equal(padded(np.ones(2), n), [1, 1] + [0] * n)
    assert scaled.trace_count == 2
    # XLA needs to know the length: two traces come to nothing, the second of which knows bounds of it.
    assert padded.trace_count == 7
    assert padded.explain(np.ones(2), 5).runs == "xla"


def test_metadata():
    @np2tf.jit
    def f(x):
        """Doubles."""
        return x * 2

    assert (f.__name__, f.__doc__) == ("f", "Doubles.")
    assert np2tf.jit(f) is f


def test_one_warning_with_code_file_line_and_reason():
    space = load(
        "import np2tf\n"
        "from np2tf import tnp\n\n\n"
        "@np2tf.jit\n"
        "def f(x):\n"
        "    s = x.sum()\n"
        "    n = int(s)\n"
        "    return tnp.zeros(n)\n"
    )
    with np2tf.config.using(jit="on"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(1, 5):
            assert space["f"](np.ones(n)).shape == (n,)
    messages = [str(warning.message) for warning in caught if warning.category is UnjittedWarning]
    assert len(messages) == 1
    name = space["f"].__wrapped__.__code__.co_filename
    assert messages[0].startswith(f"NP2TF542 {name}:8: f runs unjitted: ")
    assert len(messages[0].splitlines()) == 1


@pytest.mark.parametrize("is_verbose", [False, True])
def test_no_warning_of_what_np2tf_has_chosen_by_itself(monkeypatch, is_verbose):
    """The program has asked for nothing; `np2tf run -v` asks."""
    monkeypatch.setattr(program, "starts_as_source", True)
    monkeypatch.setattr(program, "is_verbose", is_verbose)
    f = np2tf.jit(lambda x: tnp.zeros(int(x.sum())))
    with np2tf.config.using(jit="on"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert f(np.ones(3)).shape == (3,)
    assert [warning.category for warning in caught] == [UnjittedWarning] * is_verbose


def test_strict_raises():
    @np2tf.jit
    def f(x):
        return tnp.zeros(int(x.sum()))

    with pytest.raises(StagingError) as caught:
        f(np.ones(3))
    assert caught.value.code == "NP2TF542"
    with np2tf.config.using(jit="off"):
        assert f(np.ones(3)).shape == (3,)


def test_strict_raises_for_foreign_calls_and_leaves_arguments_alone():
    @np2tf.jit
    def f(x):
        x = tnp.at(x)[0].set(9)
        return np.linalg.svd(np.asarray(x))

    x = np.eye(2)
    with pytest.raises(StagingError):
        f(x)
    np.testing.assert_array_equal(x, np.eye(2))


def test_user_errors_come_up_as_they_are():
    @np2tf.jit
    def f(x, y):
        return x @ y

    for mode in ("on", "strict"):
        with np2tf.config.using(jit=mode), pytest.raises(ValueError, match=r"mismatch|matmul"):
            f(np.ones((2, 3)), np.ones((2, 3)))


def test_what_tensorflow_has_no_dtype_for_runs_unjitted():
    @np2tf.jit
    def f(x):
        return x[1:]

    with np2tf.config.using(jit="on"), pytest.warns(UnjittedWarning, match="NP2TF504"):
        assert list(f(np.array(["a", "b"]))) == ["b"]


def test_tensors_in_tensors_out():
    @np2tf.jit
    def f(x):
        return tnp.exp(x) * 2

    found = f(tf.ones(3))
    assert np.asarray(found).dtype == np.float32
    np.testing.assert_allclose(np.asarray(found), np.exp(np.float32(1)) * 2, rtol=1e-6)


def test_gradient_through_a_jitted_function():
    @np2tf.jit
    def f(x, n):
        s = x * 0.0

        def step(i, s):
            return s + tnp.sin(x) * i

        s = np2tf.for_loop(np2tf.range(n), step, s)
        return s.sum()

    x = tf.constant([0.5, 1.0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, 12)
        loss = tf.convert_to_tensor(y)
    np.testing.assert_allclose(tape.gradient(loss, x), np.cos([0.5, 1.0]) * 66)


def test_gradient_of_written_elements():
    @np2tf.jit
    def f(x):
        y = tnp.zeros(3)
        y = tnp.at(y)[0].set(x[0] * x[1])
        y = tnp.at(y)[1].set(y[0] * 2)
        return (y * y).sum()

    x = tf.constant([2.0, 3.0], tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.convert_to_tensor(f(x))
    np.testing.assert_allclose(tape.gradient(loss, x), [10 * 6 * 3, 10 * 6 * 2])


def test_an_array_given_to_a_plain_tf_function_is_an_input():
    @tf.function
    def f(x):
        return tf.reduce_sum(tf.convert_to_tensor(x))

    x = tnp.ones(3)
    assert f(x).numpy() == 3
    x[0] = 10
    assert f(x).numpy() == 12


def test_threads():
    @np2tf.jit
    def f(x, k):
        x = tnp.at(x)[0].add(k)
        return x * 2

    barrier = threading.Barrier(4)

    def work(k):
        barrier.wait()
        for _ in range(20):
            x = np.zeros(4 + k % 2)
            np.testing.assert_array_equal(np.asarray(f(x, float(k))), [2.0 * k] + [0.0] * (3 + k % 2))
            assert x[0] == k
        return True

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    assert f.trace_count <= 8


def test_threads_with_settings_of_their_own_stage_apart():
    """One thread stages while a second thread runs eagerly: each thread sees its own scope only."""
    text = translation(
        "import numpy as np\n\n\n"
        "def f(x):\n"
        "    for i in range(len(x)):\n"
        "        x[i] = np.sin(x[i]) + i\n"
        "    return x\n"
    )
    space = load(text)
    stop = threading.Event()
    wrong = []

    def eager():
        while not stop.is_set():
            if tnp.ones(3).sum() != 3:
                wrong.append("eager")

    thread = threading.Thread(target=eager)
    thread.start()
    try:
        for n in range(10, 16):
            np.testing.assert_allclose(space["f"](np.zeros(n)), np.arange(n))
    finally:
        stop.set()
        thread.join()
    assert not wrong


def test_counts():
    @np2tf.jit
    def f(x):
        return x * 2 + 1

    before = counts.compiled
    f(np.ones(3))
    f(np.ones(3))
    assert counts.compiled == before + 2


def test_a_jitted_function_has_the_attributes_of_functions():
    """Programs copy functions by their attributes."""

    def scaled(x, *, by: float = 2.0):
        return tnp.sum(x) * by * offset

    offset = 3.0
    jitted = np2tf.jit(scaled)
    assert [name for name in dir(scaled) if not hasattr(jitted, name)] == []
    copy = types.FunctionType(
        jitted.__code__, jitted.__globals__, "copy", jitted.__defaults__, jitted.__closure__
    )
    copy.__kwdefaults__ = jitted.__kwdefaults__
    assert copy(np.ones(3)) == jitted(np.ones(3)) == 18.0
