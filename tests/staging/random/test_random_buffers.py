"""XLA programs that draw: words that NumPy has drawn ahead, in buffers that last for many calls."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.staging.host.jit import UnjittedWarning
from np2tf.staging.random import streams
from tests.staging.random.test_random_staged import LEGACY, PCG, agree, functions, philox, state, twisted


def sfc(seed: int) -> Any:
    return np.random.Generator(np.random.SFC64(seed))


def dxsm(seed: int) -> Any:
    return np.random.Generator(np.random.PCG64DXSM(seed))


def legacy_pcg(seed: int) -> Any:
    return np.random.RandomState(np.random.PCG64(seed))


LONG = [pytest.param(make, marks=pytest.mark.long) for make in (sfc, dxsm, legacy_pcg)]
MAKERS = [PCG, LEGACY, twisted, philox, *LONG]


@pytest.fixture(autouse=True)
def compiled() -> Iterator[None]:
    with np2tf.config.using(jit="on", tier="compile"), warnings.catch_warnings():
        warnings.simplefilter("error", UnjittedWarning)
        yield


MANY = """
def f(rng, x):
    for i in range(len(x)):
        u = rng.random()
        if u < 0.5:
            x[i] = rng.{integers}(0, 77) + rng.{integers}(0, 6, size=5).sum() + rng.{integers}(0, 9, 2)[1]
        else:
            x[i] = rng.normal(0.0, 2.0, size=40)[int(40 * u) - 1] + rng.random(3)[0]
        x[i] += rng.{integers}(1, 2**31, size=3).sum() % 11 + rng.uniform(-1, 1, (2, 2))[1, 1]
    return x
"""


@pytest.mark.parametrize("make", MAKERS)
def test_every_bit_generator(make: Callable[[int], Any]) -> None:
    legacy = isinstance(make(0), np.random.RandomState)
    pair = functions(MANY.format(integers="randint" if legacy else "integers"))
    translated = agree(pair, make, np.zeros(200), seeds=range(3))
    assert translated.explain(make(0), np.zeros(200)).runs == "xla"


def test_a_program_goes_on_where_numpy_has_stopped() -> None:
    """The caller draws between the calls, or sets the state; two functions share a generator."""
    first = functions(MANY.format(integers="integers"))
    second = functions("\ndef f(rng, x):\n    while rng.random() < x:\n        x *= 0.99\n    return x\n")
    numpy_generator, np2tf_generator = PCG(1), PCG(1)
    kept = numpy_generator.bit_generator.state
    for k in range(12):
        for function in (first, second):
            args = (np.zeros(30),) if function is first else (0.999,)
            expected, found = (
                function[0](numpy_generator, *np.copy(args)),
                function[1](np2tf_generator, *np.copy(args)),
            )
            np.testing.assert_array_equal(found, expected)
        if k % 3 == 0:
            assert np2tf_generator.random() == numpy_generator.random()
        if k == 7:
            numpy_generator.bit_generator.state = np2tf_generator.bit_generator.state = kept
        assert state(np2tf_generator) == state(numpy_generator)


@pytest.mark.parametrize("make", [PCG, LEGACY])
def test_a_buffer_that_is_too_short(make: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The call is repeated with a longer buffer; its effects and its errors count once."""
    body = """
def f(rng, x, n):
    total = 0.0
    for i in range(n):
        k = 0
        while rng.random() > 0.01:
            k += 1
        total += k
        x[i % len(x)] = rng.normal() + total
        if i % 100 == 0:
            print("round", i)
    return total
"""
    translated = agree(functions(body), make, np.zeros(50), 400)
    assert translated.explain(make(0), np.zeros(50), 400).runs == "xla"


@pytest.mark.parametrize("make", [PCG, twisted, LEGACY])
def test_more_words_than_any_buffer_holds(
    make: Callable[[int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program makes them itself from then on."""
    for module in (streams, streams):
        monkeypatch.setattr(module, "MAX_WORDS", 2**15)
    body = """
def f(rng, n):
    s = 0.0
    for i in range(n):
        s += rng.random() * rng.standard_normal()
    return s
"""
    pair = functions(body)
    for n in (100, 60_000, 10):
        numpy_generator, np2tf_generator = make(3), make(3)
        assert pair[1](np2tf_generator, n) == pair[0](numpy_generator, n)
        assert state(np2tf_generator) == state(numpy_generator)


def test_no_loop_waits_for_words_that_never_come() -> None:
    """A loop that ends by a rare draw takes more words than there are in the first buffer."""
    body = """
def f(rng):
    n = 0
    while rng.integers(0, 100_000) != 7:
        n += 1
    return n
"""
    agree(functions(body), PCG, seeds=range(4))


CHOICE = """
def f(rng, x):
    p = np.exp(-x)
    p /= p.sum()
    total = 0.0
    for i in range(60):
        total += x[rng.choice(len(x), p=p)] + rng.choice(x, size=3, p=p)[i % 3] + i * rng.choice(5, 2)[0]
    return total
"""


@pytest.mark.parametrize("make", [PCG, LEGACY])
def test_chances_that_are_computed(make: Callable[[int], Any]) -> None:
    pair = functions(CHOICE)
    translated = agree(pair, make, np.linspace(0, 3, 17), seeds=range(5))
    assert translated.explain(make(0), np.linspace(0, 3, 17)).runs == "xla"


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
@pytest.mark.parametrize("wrong", [np.array([0.5, 0.4]), np.array([1.5, -0.5]), np.array([np.nan, 1.0])])
@pytest.mark.parametrize("make", [PCG, LEGACY])
def test_chances_that_are_none(make: Callable[[int], Any], wrong: np.ndarray) -> None:
    body = "\ndef f(rng, p):\n    return rng.choice(2, size=4, p=p * 1.0)\n"
    reference, translated = functions(body)
    translated(make(0), np.array([0.25, 0.75]))
    errors = []
    generators = make(1), make(1)
    for function, rng in zip((reference, translated), generators, strict=True):
        with pytest.raises(ValueError, match="robabilities") as error:
            function(rng, wrong)
        errors.append(str(error.value))
    assert errors[0] == errors[1]
    assert state(generators[0]) == state(generators[1])


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
@pytest.mark.parametrize("make", [PCG, LEGACY, twisted, legacy_pcg])
@pytest.mark.parametrize("ahead", ["random(3)", "standard_normal(3)", "exponential(1.0, 3)"])
def test_what_is_drawn_ahead_is_taken_back(make: Callable[[int], Any], ahead: str) -> None:
    body = f"""
def f(rng, x, n):
    y = rng.{ahead}
    for i in range(10):
        x[i] = rng.random() + x[n + i]
    return x + y.sum()
"""
    reference, translated = functions(body)
    for n in (0, 20, 0):
        generators = make(3), make(3)
        for function, rng in zip((reference, translated), generators, strict=True):
            if n:
                with pytest.raises(IndexError):
                    function(rng, np.zeros(15), n)
            else:
                function(rng, np.zeros(15), n)
        if n:
            generators[0].random()
            continue
        assert state(generators[0]) == state(generators[1])


class PCG64(np.random.SFC64):
    """A user's bit generator that has the name of a bit generator of NumPy."""


def test_somebody_elses_bit_generator() -> None:
    """np2tf does not know how such a generator makes numbers of its words: NumPy draws."""
    pair = functions(
        "\ndef f(rng, x):\n    for i in range(len(x)):\n        x[i] = rng.random()\n    return x\n"
    )
    translated = agree(pair, lambda seed: np.random.Generator(PCG64(seed)), np.zeros(70))
    assert translated.explain(np.random.Generator(PCG64(0)), np.zeros(70)).runs != "xla"


@pytest.mark.parametrize("make", [PCG, twisted, philox, sfc, dxsm])
def test_half_a_word_that_the_program_has_left_stays(make: Callable[[int], Any]) -> None:
    """Integers of 32 bits take half a word. Compiled code that takes whole words leaves the other half."""
    source = """
def f(rng, x):
    for i in range(9):
        x = x + rng.random(3)
        if x.sum() > 4:
            break
    return x
"""
    numpy, translated = functions(source)
    found = []
    for function in (numpy, translated):
        rng, results = make(5), []
        for _ in range(4):
            results += [function(rng, np.zeros(3)).tolist(), int(rng.integers(100))]
        found.append((results, rng.random()))
    assert found[0] == found[1]
    assert translated.compiled_count == 4
