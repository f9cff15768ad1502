"""The reasons that stand against staging a function."""

from __future__ import annotations

import libcst as cst
import pytest

from np2tf.translator.facts.effects import Effects
from np2tf.translator.facts.facts import Facts

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
        "with np.printoptions(precision=3), x.settings(3) as k:\n    print(x)\nreturn x",
        "class Unused:\n    k = 3\n\n    def f(self):\n        return open(self.k)\nreturn x",
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
        ("return map(print, x)", "passes `print` on"),
        ("np.random.seed(3)\nreturn x", "random"),
        ("CACHE[0] = x", "not its own"),
        ("x.shape = (3,)", "attribute that may be an array's `shape`"),
        ("scipy.linalg.inv = x", "attribute of `scipy`"),
        ("CACHE.x[0], y = x", "attribute of `CACHE`"),
        ("type(x).y = x", "attribute of the result of `type(x)`"),
        ("x.__class__.y = x", "`__class__`"),
        ("h = lambda y: y\ndef k():\n    return x\nk.y = x", "attribute of `k`"),
        ("global y\ny = x", "rebinds"),
        ("yield x", "generator"),
        ("try:\n    return np.histogram(x)\nexcept ValueError:\n    return x", "try"),
        ("try:\n    return np.linalg.norm(x, 2)\nexcept ValueError:\n    return x", "try"),
        ("try:\n    return x.repeat(x)\nexcept ValueError:\n    return x", "try"),
        ("try:\n    return x\nexcept* ValueError:\n    y = x", "try"),
        ("with open(x) as h:\n    return h", "calls `open`"),
        ("with np.errstate(all='raise'):\n    return 1 / x", "floating-point errors"),
        ("class A:\n    k = open(x)\nreturn x", "defines a class"),
        ("class A:\n    k = 3\nreturn A().k", "defines a class"),
        ("return x.item()", "value"),
        ("rows['a'] = x", "dict"),
        ("return lambda: x", "returns a function"),
        ("h = (v for v in x)\nreturn h", "generator"),
        ("return np.save('a', x)", "numpy.save"),
    ],
)
def test_unfit(statements: str, word: str) -> None:
    found = reasons(inside(statements))
    assert found
    assert word in found[0]


@pytest.mark.parametrize(
    ("statements", "callee"),
    [
        ("return g(x)", "g"),
        ("return scipy.linalg.inv(x)", "scipy.linalg.inv"),
        ("return x.fit(3)", "x.fit"),
        ("return rows[0](x)", "rows[0]"),
        ("return CACHE['f'](x)", "CACHE['f']"),
        ("h = g(x)\nreturn h(2)", "g"),
        ("return elsewhere(x)", "elsewhere"),
        ("rows.append(x)", "rows.append"),
        ("x.seen.update(rows)", "x.seen.update"),
        ("import os\nreturn os.getpid()", "os.getpid"),
        ("return wrapped(x)", "wrapped"),
    ],
)
def test_calls_that_no_text_shows(statements: str, callee: str) -> None:
    below = "\n@functools.wraps(f)\ndef wrapped(x):\n    return x\n"
    facts = Facts.of(cst.parse_module(HEAD + inside(statements) + below))
    function = next(node for node in facts.module.body if isinstance(node, cst.FunctionDef))
    effects = Effects(facts)
    assert facts.code(effects.unknown_calls(function)[0].func) == callee


@pytest.mark.parametrize("name", ["open", "input", "exec", "globals"])
def test_builtins_that_act(name: str) -> None:
    assert name in reasons(inside(f"return {name}(x)"))[0]


@pytest.mark.parametrize(
    ("statements", "fit"),
    [
        ("for s in seen:\n    x = x + s\nreturn x", True),
        ("return x + seen[0] + len(seen)", True),
        ("return g(x, **seen)", True),
        ("seen[0] = x\nreturn x", False),
        ("seen.append(x)\nreturn x", False),
        ("return seen", False),
        ("x.rows = seen\nreturn x", False),
        ("return g(seen)", False),
    ],
)
def test_mutable_default(statements: str, fit: bool) -> None:
    text = inside(statements).replace("rows)", "rows, seen=[])")
    assert any("mutable default" in reason for reason in reasons(text)) is not fit


def test_constant_global_is_fine() -> None:
    assert reasons("def f(x):\n    return x + STATE\n\nSTATE = 1\n") == []


def test_callees() -> None:
    facts = Facts.of(cst.parse_module("def f(x):\n    return g(g(x))\n\ndef g(x):\n    return h(x)\n"))
    effects = Effects(facts)
    first, second = facts.nodes(cst.FunctionDef)
    assert list(effects.callees(first)) == [second]
    assert not effects.callees(second)
