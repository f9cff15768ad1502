"""Arrays whose dtype depends on the path: a graph has one dtype for all paths, NumPy has a dtype for each."""

from __future__ import annotations

import pytest

from tests.helpers.differential import HEAD, compare

#: name -> (function, calls that run compiled, calls that do not)
PROGRAMS = {
    "a branch": (
        "def f(x, n):\n    if x.sum() > n:\n        x = np.arange(3)\n    return x",
        ["np.ones(3), 5"],
        ["np.ones(3), 2"],
    ),
    "an early return": (
        "def f(x, n):\n    if x.max() > n:\n        return np.isfinite(x)\n    return x * 2",
        ["np.ones(3), 5"],
        ["np.ones(3), 0"],
    ),
    "neither side has the common dtype": (
        "def f(x, n):\n    y = np.arange(3)\n    if x.sum() > n:\n        y = x.astype(np.float32)\n"
        "    return y",
        [],
        ["np.ones(3), 5", "np.ones(3), 2"],
    ),
    "an operand of what computes in the common dtype": (
        "def f(x, n):\n    y = np.arange(3)\n    if x.sum() > n:\n        y = x * 2\n"
        "    return y + x, y * 0.5, np.sqrt(y), x < y, np.arctan2(y, x)",
        ["np.ones(3), 5", "np.ones(3), 2"],
        [],
    ),
    "an operand of what does not": (
        "def f(x, n):\n    y = np.arange(3)\n    if x.sum() > n:\n        y = x * 2\n    return x + y // 2",
        ["np.ones(3), 2"],
        ["np.ones(3), 5"],
    ),
    "two of them": (
        "def f(x, n):\n    y = z = np.arange(3)\n    if x.sum() > n:\n        y = x * 2\n        z = x + 1\n"
        "    return y + z",
        ["np.ones(3), 2"],
        ["np.ones(3), 5"],
    ),
    "written to": (
        "def f(x, n):\n    y = np.arange(3)\n    if x.sum() > n:\n        y = x * 2\n"
        "    y[0] = 1.5\n    return x + y",
        ["np.ones(3), 2"],
        ["np.ones(3), 5"],
    ),
    "reduced and indexed": (
        "def f(x, n):\n    y = np.arange(3)\n    if x.sum() > n:\n        y = x * 2\n"
        "    return y.sum(), x[0] + y[1]",
        ["np.ones(3), 2"],
        ["np.ones(3), 5"],
    ),
    "passed on by another branch and a loop": (
        "def f(x, n):\n    y = np.arange(3)\n    if x.sum() > n:\n        y = x * 2\n"
        "    for i in range(12):\n        if x[0] > 3:\n            x = x + y\n"
        "        y = y * x\n    return x + y",
        ["np.ones(3), 2"],
        [],
    ),
    "numbers have one dtype": (
        "def f(x, n):\n    y = 0\n    if x.sum() > n:\n        y = x[0]\n    return x + y",
        ["np.ones(3), 5", "np.ones(3), 2"],
        [],
    ),
    "a loop whose first iteration makes floats": (
        "def f(x, n):\n    y = np.zeros(3, int)\n    for i in range(n):\n        y = y + x * i\n    return y",
        ["np.ones(3), 12", "np.ones(3), 1", "np.ones(3), 0"],
        [],
    ),
    "small integers in its first iteration": (
        "def f(x, n):\n    y = np.full(3, 200, np.uint8)\n    s = x.sum()\n    while s < n:\n"
        "        y = (y + y) * x\n        s += 1\n    return y",
        ["np.ones(3), 9", "np.ones(3), 4"],
        ["np.ones(3), 3"],
    ),
    "a loop over an array": (
        "def f(x, n):\n    y = np.zeros(12, int)\n    for v in x:\n        if v > n:\n            break\n"
        "        y = y + x\n    return y",
        ["np.arange(12.), 20", "np.arange(12.), 4", "np.arange(12.), 0"],
        ["np.arange(12.), -1"],
    ),
    "a loop that makes integers": (
        "def f(x, n):\n    y = x\n    s = x.sum()\n    while s < n:\n"
        "        y = np.arange(3)\n        s += 1\n    return y",
        [],
        ["np.ones(3), 9", "np.ones(3), 3"],
    ),
    "other lengths too": (
        "def f(x, n):\n    y = x @ x.T\n    s = x.sum()\n    while s < n:\n"
        "        y = np.ones((2, 2), np.float32)\n        s += 1\n    return y",
        [],
        ["np.ones((3, 2), int), 6", "np.ones((3, 2), int), 9"],
    ),
}


@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
@pytest.mark.parametrize("case", PROGRAMS)
def test_program(case: str) -> None:
    source, compiled, calls = PROGRAMS[case]
    for call in compiled:
        compare(HEAD + source + "\n", call)
    for call in calls:
        compare(HEAD + source + "\n", call, ran="fallback")


def test_arrays_in_a_list() -> None:
    source = (
        "def f(x, n):\n    rows = []\n    for i in range(n):\n        if x[i] > 3:\n"
        "            rows.append(x * i)\n        else:\n            rows.append(np.arange(12))\n"
        "    return rows\n"
    )
    compare(HEAD + source, "np.arange(12.), 12", ran=None)
