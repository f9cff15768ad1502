"""A statement whose result nobody reads raises NumPy's error all the same."""

from __future__ import annotations

import pytest

from tests.helpers.differential import HEAD, compare

#: name -> statements about `v`, an array whose length depends on data: 3 elements, or 4
STATEMENTS = {
    "reshape": "w = v.reshape(1, 3)",
    "reshape that is written to": "w = v.reshape((1, 3))\n    w[0] += 1",
    "reshape with an unknown length": "w = v.reshape(-1, 3)",
    "reshape to no elements": "w = v.reshape(0)",
    "reshape of a copy": "w = v[::-1].reshape(3, 1)",
    "a sum": "w = v + np.zeros(3)",
    "a comparison": "w = v > np.zeros(3)",
    "where": "w = np.where(v > 1, v, np.zeros(3))",
    "a product": "w = v @ np.zeros(3)",
    "stack": "w = np.stack([v, np.zeros(3)])",
    "concatenate": "w = np.concatenate([v[None], np.zeros((1, 3))])",
    "broadcast": "w = np.broadcast_to(v, (2, 3))",
    "assignment": "w = np.zeros(3)\n    w[:] = v",
}


@pytest.mark.parametrize("result", ["x.sum()", "1", "None"])
@pytest.mark.parametrize("case", STATEMENTS)
def test_errors_of_unused_results(case: str, result: str) -> None:
    source = f"def f(x):\n    v = x[x > 0]\n    {STATEMENTS[case]}\n    return {result}\n"
    calls = "np.array([1.0, 2, 3, -1])", "np.array([1.0, 2, 3, 4])", "np.array([-1.0, 2, 3, 1])"
    compare(HEAD + source, *calls, ran=None)


def test_unbound_names_that_a_callee_returns() -> None:
    source = (
        "def g(x):\n    if x.sum() > 3:\n        y = x * 2\n    return y\n\n\n"
        "def f(x):\n    z = g(x)\n    return x + 1\n"
    )
    compare(HEAD + source, "np.ones(4)", "np.ones(3)", ran=None)
