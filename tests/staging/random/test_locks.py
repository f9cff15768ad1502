"""The locks of bit generators, reentrant or not as NumPy before 2.4 has them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.staging.random.states import hold_locks, lend_lock


def is_free(lock: Any) -> bool:
    """Return whether another thread can acquire the lock."""
    answers: list[bool] = []

    def ask() -> None:
        answers.append(lock.acquire(blocking=False))
        if answers[0]:
            lock.release()

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return answers[0]


@pytest.mark.parametrize("kind", [threading.Lock, threading.RLock])
def test_a_held_lock_is_lent(kind: Callable[[], Any]) -> None:
    """A method that acquires the lock runs within a hold, and within a second hold of the same thread."""
    bits = SimpleNamespace(lock=kind())
    with hold_locks([bits, bits]):
        assert not is_free(bits.lock)
        with hold_locks([bits]), lend_lock(bits):
            assert bits.lock.acquire(timeout=5)
            assert not is_free(bits.lock)
            bits.lock.release()
        assert not is_free(bits.lock)
    assert is_free(bits.lock)
    with lend_lock(bits):
        assert is_free(bits.lock)


def test_an_error_leaves_no_lock_held() -> None:
    """Neither of the hold, nor of the loan."""
    bits = SimpleNamespace(lock=threading.Lock())
    with pytest.raises(ZeroDivisionError), hold_locks([bits]), lend_lock(bits):
        raise ZeroDivisionError
    assert is_free(bits.lock)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState], ids=["new", "legacy"])
def test_a_call_that_draws_ends(make: Callable[[int], Any]) -> None:
    """With draws ahead of the graph, which the real generator makes, and with a buffer of words."""

    @np2tf.jit(tier="compile")
    def ahead(generator):
        return generator.gamma(2.0, size=3) * 2

    @np2tf.jit(tier="compile")
    def in_the_graph(generator, x):
        return x + generator.normal(size=3) + tnp.sum(generator.uniform(size=2))

    ours, numpys = make(7), make(7)
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(ahead(ours)), numpys.gamma(2.0, size=3) * 2)
        expected = np.ones(3) + numpys.normal(size=3) + numpys.uniform(size=2).sum()
        np.testing.assert_allclose(np.asarray(in_the_graph(ours, np.ones(3))), expected, rtol=1e-15)
