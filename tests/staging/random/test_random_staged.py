"""Random numbers in compiled functions: NumPy's own streams, bit for bit, and the states NumPy leaves."""

from __future__ import annotations

import contextlib
import io
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.staging.host.jit import UnjittedWarning
from np2tf.staging.random import distributions, states
from np2tf.staging.xla.supervision import Supervision
from tests.helpers.differential import HEAD, load, translation

PCG: Callable[[int], Any] = np.random.default_rng
LEGACY: Callable[[int], Any] = np.random.RandomState


def twisted(seed: int) -> Any:
    return np.random.Generator(np.random.MT19937(seed))


def philox(seed: int) -> Any:
    return np.random.Generator(np.random.Philox(seed))


@pytest.fixture(autouse=True)
def compiled() -> Iterator[None]:
    with np2tf.config.using(jit="on", tier="compile"), warnings.catch_warnings():
        warnings.simplefilter("error", UnjittedWarning)
        yield


def functions(body: str, name: str = "f") -> tuple[Any, Any]:
    """A function of a source on NumPy, and its translation."""
    source = HEAD + body
    return load(source)[name], load(translation(source))[name]


def state(generator: Any) -> str:
    """The state of a generator, as text that can be compared."""
    with np.printoptions(threshold=2000):
        return str(states.state_of(generator))


def agree(pair: tuple[Any, Any], make: Callable[[int], Any], *args: Any, seeds: Any = range(2)) -> Any:
    """See that a function of a generator and arrays gives NumPy's bits and states; returns our function."""
    reference, translated = pair
    for seed in seeds:
        numpy_generator, np2tf_generator = make(seed), make(seed)
        for _ in range(2):
            copies = [[np.copy(x) if isinstance(x, np.ndarray) else x for x in args] for _ in range(2)]
            expected, found = reference(numpy_generator, *copies[0]), translated(np2tf_generator, *copies[1])
            assert type(found) is type(expected)
            np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
            assert np.asarray(found).dtype == np.asarray(expected).dtype
            for np2tf_array, numpy_array in zip(copies[1], copies[0], strict=True):
                np.testing.assert_array_equal(np2tf_array, numpy_array)
            assert state(np2tf_generator) == state(numpy_generator)
    return translated


LOOP = """
def f(rng, x):
    for i in range(80 + len(x)):
        x = x + rng.{draw}
        if i % 3 == 0:
            x = x - rng.random({half})
    return x
"""
#: The draws that XLA makes by itself, and the shape of their results.
NATIVE = {
    "random()": (),
    "random(40)": (40,),
    "uniform(-1, 3.7)": (),
    "uniform(-1, 3.7, (2, 20))": (2, 20),
    "standard_normal()": (),
    "normal(1.3, 0.7, (2, 3))": (2, 3),
    "permutation(13)": (13,),
    "choice(20)": (),
    "choice(20, 6)": (6,),
    "choice(20, 6, replace=False)": (6,),
    "choice(4, 7, p=[0.1, 0.2, 0.3, 0.4])": (7,),
}
INTEGERS = {
    "integers(10)": (),
    "integers(-5, 1000000007, size=3)": (3,),
    "integers(2**33)": (),
    "integers(2**40, 2**62, 3)": (3,),
    "integers(0, 2**32)": (),
    "integers(-2**63, 2**63 - 1, endpoint=True)": (),
}
#: Elements of lists and arrays that the code names.
OF_LISTS = {
    "choice([-1, 1])": (),
    "choice((0.5, 2.5, 7.25), 4)": (4,),
    "choice(np.linspace(0, 1, 5), p=[0.1, 0.2, 0.3, 0.2, 0.2])": (),
    "choice([3, 1, 4, 1, 5], 2, replace=False)": (2,),
}
#: Of the generators over MT19937 what differs from PCG64.
OF_MT = ["random()", "random(40)", "normal(1.3, 0.7, (2, 3))", "permutation(13)"]
CASES = [
    *((PCG, draw) for draw in (*NATIVE, *INTEGERS)),
    *((make, draw) for make in (LEGACY, twisted) for draw in OF_MT),
    *((twisted, draw) for draw in ("integers(-5, 1000000007, size=3)", "choice(20, 6, replace=False)")),
    *((LEGACY, draw) for draw in ("randint(10)", "randint(2**40, 2**62, 3)", "choice(20, 6)")),
    *((LEGACY, draw) for draw in ("exponential()", "exponential(2.5)")),
    *((make, draw) for make in (PCG, LEGACY) for draw in OF_LISTS),
]
SHAPES = {**NATIVE, **INTEGERS, "randint(10)": (), "randint(2**40, 2**62, 3)": (3,), **OF_LISTS}
SHAPES |= {"exponential()": (), "exponential(2.5)": ()}


@pytest.mark.parametrize(("make", "draw"), CASES)
def test_in_xla(draw: str, make: Any) -> None:
    shape = SHAPES[draw]
    translated = agree(functions(LOOP.format(draw=draw, half="")), make, np.zeros(shape or (1,)))
    assert translated.explain(make(0), np.zeros(shape or (1,))).runs == "xla"


@pytest.mark.parametrize("make", [PCG, LEGACY, twisted])
def test_many_normal_numbers(make: Any) -> None:
    """So many that the tail of the ziggurat is met."""
    body = """
    def f(rng, n):
        out = np.zeros(n)
        for i in range(n):
            out[i] = rng.standard_normal()
        return out
    """
    pair = functions("\n".join(line[4:] for line in body.splitlines()))
    agree(pair, make, 30_000, seeds=range(2))
    assert pair[1].explain(make(0), 30_000).runs == "xla"


def test_what_normal_numbers_are_made_of() -> None:
    assert distributions.log1p_is_known()
    assert distributions.ziggurat_is_the_hosts()
    certain, widths, heights = distributions.tables()
    assert certain[1] == 0
    assert len(certain) == len(widths) == len(heights) == 256
    assert abs(widths[255] * 2.0**52 - 3.654152885361009) < 1e-12
    assert np.all(np.diff(heights[1:]) < 0)


OTHERS = [
    "exponential(2.0)",
    "gamma(2.0, size=3)",
    "poisson(4.0)",
    "standard_normal(300)",
    "binomial(9, 0.3)",
]


@pytest.mark.parametrize(("make", "draw"), list(zip([PCG, LEGACY, philox, PCG, LEGACY], OTHERS, strict=True)))
def test_by_calls_back(draw: str, make: Any) -> None:
    x = np.zeros(np.shape(eval(f"make(0).{draw}", {"make": make})) or (1,))
    translated = agree(functions(LOOP.format(draw=draw, half="")), make, x)
    told = translated.explain(make(0), x)
    assert told.runs == "graph"
    assert "which only a graph can" in told.not_xla


@pytest.mark.parametrize("make", [PCG, LEGACY, philox])
def test_ahead_of_the_graph(make: Any) -> None:
    body = """
def f(rng, x):
    y = rng.gamma(2.0, size=len(x))
    z = rng.random(len(x)) + x
    s = 0.0
    for i in range(len(x)):
        s = max(s, y[i] * z[i])
    return s
"""
    assert agree(functions(body), make, np.linspace(0, 1, 90)).explain(make(0), np.zeros(90)).runs == "xla"


def test_loops_that_data_stop_and_functions_that_call_functions() -> None:
    body = """
def step(rng, t, most):
    if rng.random() < 0.3:
        return t + rng.uniform(0.0, most)
    return t


def f(rng, x):
    t, n = x[0], 0
    while t < 1.0:
        t = step(rng, t, x[1])
        n += 1
    return np.array([t, n])
"""
    assert agree(functions(body), PCG, np.array([0.0, 0.02])).explain(PCG(0), np.ones(2)).runs == "xla"
    agree(functions(body), philox, np.array([0.0, 0.02]))


def test_staged_parameters() -> None:
    body = """
def f(rng, x):
    s = np.zeros((len(x), 3))
    for i in range(len(x)):
        s[i, 0] = rng.normal(x[i], x[i] + 0.1)
        s[i, 1] = rng.integers(0, i + 1)
        s[i, 2] = rng.poisson(x[i])
    return s
"""
    for make in (PCG, twisted):
        agree(functions(body), make, np.linspace(0, 3, 70))
    bad = functions(body)
    warnings.simplefilter("ignore", UnjittedWarning)
    with pytest.raises(ValueError, match="scale < 0"):
        bad[1](PCG(0), -np.ones(70))


def test_choosing_from_arrays_and_shuffling() -> None:
    body = """
def f(rng, x, y):
    rng.shuffle(x)
    a = rng.permutation(y)
    b = rng.choice(x, 4)
    return np.concatenate([a[0], b, rng.choice(y, 2, replace=False).ravel()])
"""
    for make in (PCG, LEGACY, philox):
        if make is LEGACY:  # it chooses from vectors alone
            body = body.replace("rng.choice(y, 2, replace=False).ravel()", "rng.permutation(x)")
        agree(functions(body), make, np.arange(10.0), np.arange(12.0).reshape(4, 3))


def test_the_global_state() -> None:
    body = """
def f(x):
    x = x + np.random.rand(3)
    for i in range(70):
        x = x + np.random.uniform(-1, 1, 3)
        if x[0] > 0.0:
            x = x * np.random.normal()
    np.random.shuffle(x)
    return x


def g(rng, x):
    return x + rng.random() + np.random.random()
"""
    for name in "fg":
        reference, translated = functions(body, name)
        results = []
        for function in (reference, translated):
            np.random.seed(7)
            given = (np.random.mtrand._rand,) if name == "g" else ()
            results.append([function(*given, np.ones(3)) for _ in range(3)])
            results[-1].append(np.random.random())
        np.testing.assert_array_equal(np.concatenate(results[1][:3]), np.concatenate(results[0][:3]))
        assert results[1][3] == results[0][3]


def test_methods_objects_and_globals() -> None:
    body = """
SHARED = np.random.default_rng(11)


class Walker:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.place = np.zeros(2)

    def walk(self, n):
        for _ in range(n):
            self.place = self.place + self.rng.standard_normal(2)
        return self.place.sum()


def f(x):
    for i in range(len(x)):
        x[i] = SHARED.random()
    return x


def made(x, seed):
    rng = np.random.default_rng(seed)
    again = np.random.default_rng(rng)
    for i in range(len(x)):
        x[i] = rng.random() + again.normal()
    return x


def both(rng, other, x):
    for i in range(len(x)):
        x[i] = rng.random() - other.random()
    return x


def given(rng, x):
    x[0] = rng.random() * x.sum()
    return rng
"""
    numpy_space, np2tf_space = load(HEAD + body), load(translation(HEAD + body))
    walkers = [space["Walker"](3) for space in (numpy_space, np2tf_space)]
    for _ in range(2):
        expected, found = [walker.walk(90) for walker in walkers]
        assert found == expected
    assert state(walkers[0].rng) == state(walkers[1].rng)
    for _ in range(2):
        np.testing.assert_array_equal(np2tf_space["f"](np.zeros(80)), numpy_space["f"](np.zeros(80)))
        assert state(np2tf_space["SHARED"]) == state(numpy_space["SHARED"])
        np.testing.assert_array_equal(
            np2tf_space["made"](np.zeros(80), 5), numpy_space["made"](np.zeros(80), 5)
        )
    for is_shared in (True, False):
        pairs = [(a, a if is_shared else PCG(2)) for a in (PCG(1), PCG(1))]
        results = [
            s["both"](*pair, np.zeros(70)) for s, pair in zip((numpy_space, np2tf_space), pairs, strict=True)
        ]
        np.testing.assert_array_equal(*results)
        assert [state(g) for g in pairs[0]] == [state(g) for g in pairs[1]]
    rng = PCG(4)
    assert np2tf_space["given"](rng, np.ones(3)) is rng
    assert isinstance(rng, np.random.Generator)
    assert state(rng) != state(PCG(4))


def test_a_discarded_call_has_drawn_nothing() -> None:
    body = """
def f(rng, x, n):
    y = rng.random(3)
    for i in range(len(x)):
        x[i] = rng.random()
        if x[i] < 0.5:
            x[i] += x[int(n + 60 * x[i])]
    return x + y.sum()
"""
    reference, translated = functions(body)
    for n in (5, 90):
        generators = PCG(3), PCG(3)
        for function, rng in zip((reference, translated), generators, strict=True):
            x = np.zeros(70)
            if n == 90:
                warnings.simplefilter("ignore", UnjittedWarning)
                with pytest.raises(IndexError):
                    function(rng, x, n)
            else:
                function(rng, x, n)
        assert state(generators[0]) == state(generators[1])


def test_tracing_draws_nothing() -> None:
    _, translated = functions(LOOP.format(draw="random()", half=""))
    rng = PCG(1)
    before = state(rng)
    translated.explain(rng, np.zeros(2))
    assert state(rng) == before


def test_threads_share_a_generator() -> None:
    _, translated = functions(
        "\ndef f(rng, x):\n    for i in range(len(x)):\n        x[i] = rng.random()\n    return x\n"
    )
    rng, found = PCG(5), []
    translated(PCG(0), np.zeros(100))
    threads = [
        threading.Thread(target=lambda: found.append(translated(rng, np.zeros(100)))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = PCG(5).random(400)
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), np.sort(expected))


def test_places_that_are_drawn() -> None:
    """XLA takes what places depend on for constants; products must be rounded still."""
    body = """
def f(rng, x):
    for i in range(len(x)):
        k = rng.integers(0, len(x))
        x[k] = rng.normal(1.3, 0.7) + 0.0 * x[int(abs(rng.normal(0.3, 0.7)))]
    return x
"""
    pair = functions(body)
    for make in (PCG, twisted):
        agree(pair, make, np.linspace(0, 1, 300))


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
def test_what_only_looks_like_a_draw() -> None:
    body = """
class Plane:
    def __init__(self):
        self.asked = 0

    def normal(self, x):
        print("asked")
        return x


def f(plane, x):
    for i in range(len(x)):
        x[i] = plane.normal(x[i]) * 2.0
    return x
"""
    space = load(translation(HEAD + body))
    with contextlib.redirect_stdout(io.StringIO()) as printed, np2tf.config.using(tier="compile"):
        found = space["f"](space["Plane"](), np.ones(70))
    assert found.tolist() == [2.0] * 70
    assert printed.getvalue() == "asked\n" * 70
    _, translated = functions(
        "\ndef f(m, x):\n    for i in range(len(x)):\n        x[i] = m.random()\n    return x\n"
    )
    assert translated.explain(np.random, np.zeros(70)).runs == "host"


@pytest.mark.parametrize("make", [PCG, twisted, philox, LEGACY])
def test_calls_in_a_thread_of_np2tfs_own_draw_the_same(
    make: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long call runs in another thread, while the main thread waits for signals."""
    in_a_thread = Supervision._in_a_thread
    monkeypatch.setattr(Supervision, "run", lambda self, inputs, *_: in_a_thread(self, inputs))
    body = (
        "def f(rng, x):\n    x = x + rng.random(3)\n    while x.sum() < 9:\n"
        "        x = x + rng.random(3)\n    return x + rng.standard_normal(3)\n"
    )
    agree(functions(body), make, np.ones(3))
