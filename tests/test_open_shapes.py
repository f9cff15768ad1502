"""Arrays whose shapes depend on data, in compiled functions: NumPy's results and NumPy's errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differential import HEAD, compare, load, translation

import np2tf

#: What is done with `v`, of which there are three elements, none or one; `w` has the other elements.
USES = """
v[0]
v[-1]
v[1]
v[[0, 1]]
v[::2]
v[::-1]
v[:2].sum()
v[:-1].sum()
v[-2:]
v.max()
v.min(axis=0)
v.argmax()
v.argmin()
v.mean()
v.std()
np.ptp(v)
np.nanmax(v)
np.median(v)
np.percentile(v, 50)
np.sort(v)[0]
np.argsort(v)
np.cumsum(v)[-1]
np.diff(v).max()
np.unique(v)
np.roll(v, 1)
np.take(v, 0)
np.append(v, 1.0)
np.concatenate([v, x]).sum()
np.stack([v, w]).sum()
np.linalg.norm(v)
np.maximum(v, 2.5)
np.convolve(v, [1.0, 2.0])
np.nonzero(x > 1)[0][0]
np.flatnonzero(x > 1).max()
np.where(x > 1)[0].sum()
v.reshape(2, -1)
v.size + v.shape[0] + len(v)
(v * v - v.mean()).sum()
v * 2 + 1
(v**2).sum()
v + w
v + x
v[v > 2] * v
v @ w
np.dot(v, w)
np.inner(v, w)
np.vdot(v, w)
np.outer(v, w).sum()
np.trapezoid(v, w)
np.average(v, weights=w)
np.searchsorted(v, 1.5)
""".strip().splitlines()


#: Not staged along an axis of unknown length: the call runs on the host.
ON_HOST = {"np.median(v)", "np.percentile(v, 50)", "np.convolve(v, [1.0, 2.0])"}


@pytest.mark.parametrize("use", USES)
def test_shapes_that_depend_on_data(use: str) -> None:
    source = f"def f(x):\n    v = x[x > 1]\n    w = x[x <= 1]\n    return {use}\n"
    ran = "fallback" if use in ON_HOST else "compiled"
    compare(HEAD + source, "np.arange(5.)", "np.arange(2.)", "np.array([0., 1., 2.])", ran=ran)


def compiled(source: str, *args: Any) -> tuple[Any, str]:
    """What a function gives when it is compiled, and what it ran on."""
    function = load(translation(HEAD + source))["f"]
    with np2tf.config.using(tier="compile"):
        found = function(*args)
        return found, str(function.explain(*args)).splitlines()[0].split()[-1]


def test_what_xla_does_rightly_stays_in_xla() -> None:
    source = "def f(x):\n    v = x[x > 1]\n    return (v * v - v.mean()).sum()\n"
    found, where = compiled(source, np.arange(5.0))
    assert where == "xla"
    assert found == 20.0


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return (x[x > 1] + x[x < 3]).sum()\n",
        "def f(x):\n    return x[x > 1][-1]\n",
        "def f(x):\n    s = 0.0\n    for i in range(3):\n        s = s + x[x > i][-1]\n    return s\n",
    ],
)
def test_what_it_does_not_is_left_to_tensorflow(source: str) -> None:
    found, where = compiled(source, np.arange(5.0))
    assert where == "graph"
    assert found == load(HEAD + source)["f"](np.arange(5.0))
