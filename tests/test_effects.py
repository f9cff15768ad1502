"""What stands against staging a function."""

from __future__ import annotations

import libcst as cst
import pytest

from np2tf.facts import Facts
from np2tf.facts.effects import Effects

HEAD = "import numpy as np\nimport math\nfrom math import sqrt\nimport scipy\n\nCACHE = {}\n\n"


def reasons(text: str) -> list[str]:
    facts = Facts.of(cst.parse_module(HEAD + text))
    function = next(node for node in facts.module.body if isinstance(node, cst.FunctionDef))
    return [problem.reason for problem in Effects(facts).problems(function)]


def inside(statements: str) -> str:
    return "def f(x, g, rows):\n" + "".join(f"    {line}\n" for line in statements.splitlines())


@pytest.mark.parametrize(
    "statements",
    [
        "return np.sum(x) + math.pi * sqrt(2)",
        "y = x.copy()\ny[0] = 1\nreturn y.T.reshape(-1)",
        "out = []\nfor row in x:\n    out.append(row)\nreturn np.array(out)",
        "return sorted(len(r) for r in rows)",
        "x.y, x.z[0], x.w.v = rows\nfor x.y in rows:\n    rows[0].z += x.y",
        "if x is None:\n    raise ValueError(f'no {x}')\nreturn x",
        "def h(a):\n    return a + 1\nreturn h(x)",
        "h = lambda a: a * 2\nreturn h(x)",
        "with np.errstate(divide='ignore'):\n    x = 1 / x\nreturn x",
        "return np.subtract.outer(x, x)",
        "x[0, :] += 1\nreturn float(2)",
        "return float(np.sum(x))",
    ],
)
def test_fit(statements: str) -> None:
    assert reasons(inside(statements)) == []


@pytest.mark.parametrize(
    ("statements", "word"),
    [
        ("print(x, file=y)", "prints to a file"),
        ("print(x, **y)", "prints with settings"),
        ("return map(print, x)", "hands on `print`"),
        ("return g(x)", "parameter `g`"),
        ("return scipy.linalg.inv(x)", "scipy.linalg.inv"),
        ("np.random.seed(3)\nreturn x", "random"),
        ("rows.append(x)", "rows"),
        ("CACHE[0] = x", "not its own"),
        ("x.shape = (3,)", "attribute that may be an array's `shape`"),
        ("scipy.linalg.inv = x", "attribute of `scipy`"),
        ("CACHE.x[0], y = x", "attribute of `CACHE`"),
        ("type(x).y = x", "attribute of what `type(x)` gives"),
        ("x.__class__.y = x", "`__class__`"),
        ("h = lambda y: y\ndef k():\n    return x\nk.y = x", "attribute of `k`"),
        ("global y\ny = x", "rebinds"),
        ("yield x", "generator"),
        ("try:\n    return np.histogram(x)\nexcept ValueError:\n    return x", "try"),
        ("try:\n    return np.linalg.norm(x, 2)\nexcept ValueError:\n    return x", "try"),
        ("try:\n    return x.repeat(x)\nexcept ValueError:\n    return x", "try"),
        ("try:\n    return x\nexcept* ValueError:\n    y = x", "try"),
        ("try:\n    return x\nexcept ValueError:\n    import os", "imports"),
        ("with open(x) as h:\n    return h", "with"),
        ("import os\nreturn x", "imports"),
        ("return f'{x}' == 'a'", "text"),
        ("y = f'{x}'\nreturn {y: 1}", "text"),
        ("y = f'{x}'\nprint(y.upper())", "text"),
        ("return x.item()", "value"),
        ("rows['a'] = x", "dict"),
        ("return lambda: x", "returns a function"),
        ("h = (v for v in x)\nreturn h", "generator"),
        ("return x.fit(3)", "x.fit"),
        ("return np.save('a', x)", "numpy.save"),
    ],
)
def test_unfit(statements: str, word: str) -> None:
    found = reasons(inside(statements))
    assert found
    assert word in found[0]


def test_changed_global() -> None:
    text = "def f(x):\n    return x + STATE\n\nSTATE = 1\n\ndef g():\n    global STATE\n    STATE = 2\n"
    assert reasons(text) == ["reads `STATE`, a name of the module that changes"]


def test_constant_global_is_fine() -> None:
    assert reasons("def f(x):\n    return x + STATE\n\nSTATE = 1\n") == []


def test_mutable_default() -> None:
    assert "mutable default" in reasons("def f(x, seen=[]):\n    return x\n")[0]


def test_callees() -> None:
    facts = Facts.of(cst.parse_module("def f(x):\n    return g(g(x))\n\ndef g(x):\n    return h(x)\n"))
    effects = Effects(facts)
    first, second = facts.nodes(cst.FunctionDef)
    assert list(effects.callees(first)) == [second]
    assert not effects.callees(second)
