"""numpy.random: the same streams bit for bit, whoever asks, and refused while staging."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array
from np2tf.arrays.tensors.storage import staging_scope
from np2tf.core.errors import StagingError

#: method -> arguments: every distribution, with and without a shape.
SHARED: dict[str, tuple[Any, ...]] = {
    "beta": (2.0, 3.0, 4),
    "binomial": (10, 0.3, (2, 3)),
    "bytes": (5,),
    "chisquare": (3.0, 4),
    "choice": ([1.5, 2.5, 3.5], 5),
    "dirichlet": ([1.0, 2.0, 3.0], 2),
    "exponential": (2.0, 4),
    "f": (3.0, 4.0, 4),
    "gamma": (2.0, 1.0, 4),
    "geometric": (0.3, 4),
    "gumbel": (0.0, 1.0, 4),
    "hypergeometric": (5, 6, 4, 4),
    "laplace": (0.0, 1.0, 4),
    "logistic": (0.0, 1.0, 4),
    "lognormal": (0.0, 1.0, 4),
    "logseries": (0.5, 4),
    "multinomial": (10, [0.2, 0.3, 0.5], 3),
    "multivariate_normal": ([0.0, 1.0], [[2.0, 0.5], [0.5, 1.0]], 3),
    "negative_binomial": (5, 0.5, 4),
    "noncentral_chisquare": (3.0, 1.0, 4),
    "noncentral_f": (3.0, 4.0, 1.0, 4),
    "normal": ([0.0, 10.0], 1.0),
    "pareto": (3.0, 4),
    "permutation": (6,),
    "poisson": (3.0, 4),
    "power": (3.0, 4),
    "random": ((2, 2),),
    "rayleigh": (2.0, 4),
    "standard_cauchy": (4,),
    "standard_exponential": (4,),
    "standard_gamma": (2.0, 4),
    "standard_normal": (4,),
    "standard_t": (3.0, 4),
    "triangular": (0.0, 1.0, 2.0, 4),
    "uniform": (-1.0, 1.0, 4),
    "vonmises": (0.0, 1.0, 4),
    "wald": (1.0, 2.0, 4),
    "weibull": (2.0, 4),
    "zipf": (2.0, 4),
}
LEGACY = {
    **SHARED,
    "rand": (2, 3),
    "randn": (3,),
    "randint": (0, 9, (3, 2)),
    "random_sample": (3,),
    "ranf": (3,),
    "sample": (3,),
}
MODERN = {
    **SHARED,
    "integers": (0, 9, 5),
    "permuted": ([1.0, 2.0, 3.0],),
    "multivariate_hypergeometric": ([3, 4, 5], 4),
}
WITHOUT_SHAPE = ("normal", "random", "uniform", "poisson", "standard_normal")


def same(np2tf_array: Any, numpys: Any) -> None:
    """The same bits, an array where new arrays live for an array of NumPy's, and a number for a number."""
    if isinstance(numpys, np.ndarray):
        assert is_array(np2tf_array) is (np2tf.config.eager == "tensorflow")
        assert np2tf_array.dtype == numpys.dtype
        np.testing.assert_array_equal(np.asarray(np2tf_array), numpys)
    else:
        assert type(np2tf_array) is type(numpys)
        assert np2tf_array == numpys


@pytest.mark.parametrize("eager", ["auto", "tensorflow"])
def test_functions_draw_from_numpys_global_stream(eager: str) -> None:
    with np2tf.config.using(eager=eager):
        for name, args in LEGACY.items():
            tnp.random.seed(7)
            np2tf_numbers = getattr(tnp.random, name)(*args)
            np.random.seed(7)
            same(np2tf_numbers, getattr(np.random, name)(*args))


@pytest.mark.parametrize("eager", ["auto", "tensorflow"])
def test_generators_draw_numpys_stream(eager: str) -> None:
    with np2tf.config.using(eager=eager):
        np2tf_generator, numpys = tnp.random.default_rng(7), np.random.default_rng(7)
        for name, args in MODERN.items():
            same(getattr(np2tf_generator, name)(*args), getattr(numpys, name)(*args))


def test_random_states_draw_numpys_stream() -> None:
    np2tf_generator, numpys = tnp.random.RandomState(7), np.random.RandomState(7)
    for name, args in LEGACY.items():
        if name not in ("ranf", "sample"):
            same(getattr(np2tf_generator, name)(*args), getattr(numpys, name)(*args))


@pytest.mark.parametrize("name", WITHOUT_SHAPE)
def test_numbers_stay_numbers(name: str) -> None:
    same(getattr(tnp.random.default_rng(3), name)(), getattr(np.random.default_rng(3), name)())
    same(getattr(tnp.random.RandomState(3), name)(), getattr(np.random.RandomState(3), name)())


def test_arrays_of_ours_are_arguments() -> None:
    means, seed = np2tf.device_put([0.0, 5.0]), np2tf.device_put([1, 2])
    for eager in ("auto", "tensorflow"):
        with np2tf.config.using(eager=eager):
            expected = np.random.default_rng(1).normal([0.0, 5.0], 2.0)
            same(tnp.random.default_rng(1).normal(means, 2.0), expected)
            same(tnp.random.default_rng(seed).random(2), np.random.default_rng([1, 2]).random(2))


@pytest.mark.parametrize("eager", ["auto", "tensorflow"])
def test_shuffle_is_in_place(eager: str) -> None:
    with np2tf.config.using(eager=eager):
        array, alias = tnp.arange(10), None
        alias = array[:]
        # NumPy's own generator returns None, as it does in NumPy.
        assert tnp.random.default_rng(2).shuffle(array) is (None if eager == "auto" else array)
        expected = np.arange(10)
        np.random.default_rng(2).shuffle(expected)
        np.testing.assert_array_equal(np.asarray(array), expected)
        np.testing.assert_array_equal(np.asarray(alias), expected)


def test_shuffle_of_a_list() -> None:
    values, expected = list("abcdef"), list("abcdef")
    tnp.random.seed(4)
    tnp.random.shuffle(values)
    np.random.seed(4)
    np.random.shuffle(expected)
    assert values == expected


def test_out_is_written() -> None:
    with np2tf.config.using(eager="tensorflow"):
        out = tnp.zeros(3)
        assert tnp.random.default_rng(5).random(out=out) is out
        np.testing.assert_array_equal(out.numpy(), np.random.default_rng(5).random(3))


def test_isinstance_takes_ours_and_numpys() -> None:
    for rng in (tnp.random.default_rng(0), np.random.default_rng(0)):
        assert isinstance(rng, tnp.random.Generator)
        assert isinstance(rng, np.random.Generator)
        assert not isinstance(rng, tnp.random.RandomState)
    for state in (tnp.random.RandomState(0), np.random.RandomState(0)):
        assert isinstance(state, tnp.random.RandomState)
        assert not isinstance(state, tnp.random.Generator)


@pytest.mark.parametrize("make", [tnp.random.default_rng, tnp.random.RandomState])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))])
@pytest.mark.parametrize("eager", ["auto", "tensorflow"])
def test_copies_go_on_with_the_stream(make: Any, duplicate: Any, eager: str) -> None:
    with np2tf.config.using(eager=eager):
        rng = make(9)
        rng.standard_normal(3)
        copied = duplicate(rng)
        assert type(copied) is type(rng)
        assert rng.standard_normal(5).tolist() == copied.standard_normal(5).tolist()


def test_state_goes_round() -> None:
    tnp.random.seed(11)
    state = tnp.random.get_state()
    first = tnp.random.rand(3)
    tnp.random.set_state(state)
    np.testing.assert_array_equal(first, tnp.random.rand(3))


def test_default_rng_shares_what_it_is_given() -> None:
    np2tf_generator, numpys = tnp.random.default_rng(1), np.random.default_rng(1)
    assert tnp.random.default_rng(np2tf_generator) is np2tf_generator
    first, second = tnp.random.default_rng(numpys).random(), numpys.random()
    again = np.random.default_rng(1)
    assert [first, second] == [again.random(), again.random()]


def test_spawned_generators() -> None:
    for eager, kind in (("auto", np.random.Generator), ("tensorflow", tnp.random.Generator)):
        with np2tf.config.using(eager=eager):
            np2tf_generators, numpys = tnp.random.default_rng(1).spawn(2), np.random.default_rng(1).spawn(2)
            assert [type(rng) for rng in np2tf_generators] == [kind] * 2
            same(np2tf_generators[1].random(3), numpys[1].random(3))


def test_bit_generators_are_numpys() -> None:
    for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence", "BitGenerator"):
        assert getattr(tnp.random, name) is getattr(np.random, name)
    same(
        tnp.random.Generator(tnp.random.Philox(3)).random(2),
        np.random.Generator(np.random.Philox(3)).random(2),
    )


def test_refused_while_staging() -> None:
    with np2tf.config.using(eager="tensorflow"):
        rng = tnp.random.default_rng(0)
    before = copy.deepcopy(rng.bit_generator.state)
    with staging_scope(None):
        for draw in (tnp.random.rand, rng.random, tnp.random.default_rng, lambda: rng.shuffle([1, 2])):
            with pytest.raises(StagingError) as raised:
                draw()
            assert raised.value.code == "NP2TF506"
    assert rng.bit_generator.state == before


GENERATOR = np.random.default_rng(0)
DRAW = GENERATOR.random


@np2tf.jit(tier="compile")
def by_argument(rng: Any, x: Any) -> Any:
    return x + (rng.random(2) if hasattr(rng, "random") else rng(2))


@np2tf.jit(tier="compile")
def by_name(x: Any) -> Any:
    return x + GENERATOR.random(2)


@np2tf.jit(tier="compile")
def by_bound_method(x: Any) -> Any:
    return x + DRAW(2)


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
def test_numpys_generators_draw_at_every_call() -> None:
    x, expected = np.zeros(2), np.random.default_rng(0)
    for draw in (
        lambda: by_argument(GENERATOR, x),
        lambda: by_argument(DRAW, x),
        lambda: by_name(x),
        lambda: by_bound_method(x),
    ):
        for _ in range(3):
            np.testing.assert_array_equal(draw(), expected.random(2))


@pytest.mark.filterwarnings("error::np2tf.staging.host.jit.UnjittedWarning")
@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generators_method_as_an_argument_is_compiled(make: Any) -> None:
    """It is machine code: bound to anything but a generator it reads what is not its own."""
    np2tf_method, numpys, x = make(0).standard_normal, make(0).standard_normal, np.zeros(2)
    for _ in range(2):
        np.testing.assert_array_equal(by_argument(np2tf_method, x), numpys(2))
