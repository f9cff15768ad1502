"""The target tf follows containers to a depth: a container that grows into itself settles."""

from __future__ import annotations

import pytest

from np2tf import Options, convert
from np2tf.translator.tensorflow.values import Value, limit_depth, list_value, plain

GROWTHS = ("a = (a, a)", "a = [a, a]", "a = [a, [a, b], {0: a}]", "b.append(a); a.append(b)", "a.append(a)")


def depth(value: Value | None) -> int:
    """Return how deep containers are in one another."""
    return 0 if value is None else 1 + max(map(depth, (*(value.items or ()), value.item)))


@pytest.mark.parametrize("growth", GROWTHS)
def test_growing_containers_settle(growth: str) -> None:
    """No module of these is given up because of values that do not settle (NP2TF603)."""
    source = (
        "import numpy as np\n\n\ndef f(x, n):\n    a = [x]\n    b = []\n    for i in range(n):\n"
        f"        {growth}\n    return np.sin(x), a\n"
    )
    codes = [finding.code for finding in convert(source, Options(target="tf")).diagnostics]
    assert "NP2TF603" not in codes


def test_only_deep_items_are_forgotten() -> None:
    value = plain("int")
    for _ in range(4):
        value = list_value(value, ["root"])
    assert limit_depth(value) is value
    for _ in range(20):
        value = list_value(value, ["root"])
    limited = limit_depth(value)
    assert depth(limited) < depth(value)
    assert limited.memory == value.memory
    assert limited == limit_depth(list_value(limited, ["root"]))
    innermost = limited
    while innermost.item is not None:
        innermost = innermost.item
    assert innermost.may_be_array
