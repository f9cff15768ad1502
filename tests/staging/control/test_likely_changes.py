"""A loop is staged from a guess of the variables that it changes, which calls with other numbers refute."""

from __future__ import annotations

import numpy as np
import pytest

import np2tf
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
