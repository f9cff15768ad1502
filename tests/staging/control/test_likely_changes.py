"""A loop is staged from a guess of the variables that it changes, which calls with other numbers refute."""

from __future__ import annotations

import numpy as np
import pytest

import np2tf
from np2tf.staging.objects.code_names import kept_and_new_names
from tests.helpers.differential import load, translation

SOURCE = """
import numpy as np


def farthest(x, k):
    points = [x[0]]
    for _ in range(k - 1):
        distances = np.min([np.sum((x - point) ** 2, axis=1) for point in points], axis=0)
        points.append(x[np.argmax(distances)])
    return np.array(points)
"""


@pytest.mark.parametrize("sizes", [(3, 9, 5), (9, 3, 12)])
def test_a_list_that_grows_after_a_loop_without_it(sizes: tuple[int, ...]) -> None:
    """A short loop is unrolled; a longer one makes the list a staged list, with more variables than the
    guess has.
    """
    numpys, np2tfs = load(SOURCE)["farthest"], load(translation(SOURCE))["farthest"]
    x = np.random.default_rng(0).normal(size=(300, 4))
    with np2tf.config.using(tier="compile"):
        for k in sizes:
            np.testing.assert_array_equal(np2tfs(x, k), numpys(x, k))
            assert np2tfs.lower(x, k).how == "xla"


STEPS = """
def step(i, a, b, c, d, e, f, g, h, self):
    a = tnp.at(a)[i, 1:].set(tnp.sqrt(b))
    b += a
    c = c * 2
    d = change(d, i)
    self.x = tnp.at(self.x)[i].add(1)
    self.y = a + c

    def then(e):
        return tnp.at(e)[i].set(1)

    def inner(j, f, g_now):
        nonlocal g
        g = g_now
        f = tnp.sum(f)
        return f, g

    e = np2tf.cond(i < 2, then, lambda e: e, e)
    f, g = np2tf.for_loop(range(9), inner, (f, g))
    h[0], h[1] = 1, 2
    return a, b, c, d, e, f, g
"""


def test_what_code_does_with_names() -> None:
    """Names are written in place, or bound to new values; neither is said where a call may do either."""
    kept, new = kept_and_new_names(load(STEPS)["step"].__code__)
    assert set("abehx") <= kept
    assert set("cfy") <= new
    assert not set("dg") & (kept | new)
    assert not set("abehx") & new
