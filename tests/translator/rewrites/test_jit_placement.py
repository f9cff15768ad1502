"""Where `@np2tf.jit` goes."""

from __future__ import annotations

import pytest

import np2tf


def convert(text: str) -> str:
    return np2tf.convert("import numpy as np\n\n" + text).text


WORK = "    y = np.abs(x[1:])\n    z = np.sum(y * y) + y\n    return np.sqrt(z)\n"


def test_above_def_below_comment() -> None:
    assert "# About f.\n@np2tf.jit\ndef f(x):" in convert(f"# About f.\ndef f(x):\n{WORK}")


def test_below_staticmethod() -> None:
    inside = "".join(f"    {line}\n" for line in WORK.splitlines())
    text = convert(f"class A:\n    @staticmethod\n    def f(x):\n{inside}")
    assert "    @staticmethod\n    @np2tf.jit\n    def f(x):" in text


@pytest.mark.parametrize(
    "text",
    [
        f"@cached\ndef f(x):\n{WORK}",
        f"@np2tf.jit\ndef f(x):\n{WORK}",
        "class A:\n    def f(self, x):\n        while True:\n            x[0] = np.sum(x)\n",
        "def f(x):\n    return np.sum(x)\n",
        "def f(n):\n    a = np.zeros((n, n))\n    a[0] = np.arange(n) * 2\n    return np.sin(a)\n",
        f"def f():\n    x = np.ones(3)\n{WORK}",
        f"async def f(x):\n{WORK}",
        f"def f(x):\n    print(x, file=OUT)\n{WORK}",
        "def f(x):\n    if np.sum(x) < 1:\n        return x[1:]\n    return f(np.abs(x[1:]) / 2) @ x\n",
        "def f(words):\n    n = {}\n    for w in words[1:]:\n        n[w] = len(w)\n    return n\n",
    ],
)
def test_not_placed(text: str) -> None:
    assert convert(text).count("@np2tf.jit") == text.count("@np2tf.jit")


def test_recursion_that_a_number_ends_is_work() -> None:
    text = "def f(x, n):\n    if n == 0:\n        return np.sum(x)\n    return f(np.abs(x[1:]), n - 1) @ x\n"
    assert "@np2tf.jit\ndef f(x, n):" in convert(text)


@pytest.mark.parametrize(
    ("value", "placed"),
    [
        ("0.5 * (a[:-2] + a[2:])", True),
        ("a[2:] - b[:-2]", True),
        ("a[1:-1] / n", True),
        ("a[:-2] + b[2:]", False),
        ("a[1:-1] * n", True),
        ("b[1] * 0.5", True),
        ("[n] * 3", False),
    ],
)
def test_arithmetic_in_loops_may_be_on_arrays(value: str, placed: bool) -> None:
    text = f"def f(a, b, n):\n    for i in range(n):\n        a[1:-1] = {value}\n    return a\n\nPI = np.pi\n"
    assert ("@np2tf.jit" in convert(text)) is placed


def test_unfit_callee_makes_the_caller_unfit() -> None:
    text = "def f(x):\n    return g(x) + h(x)\n\n\ndef g(x):\n    print(x, file=OUT)\n    return x\n"
    text += f"\n\ndef h(x):\n{WORK}"
    caller = f"def c(x):\n    x = f(x)\n{WORK}"
    result = np2tf.convert(f"import numpy as np\n\n{caller}\n\n{text}")
    assert result.text.count("@np2tf.jit") == 1
    assert "@np2tf.jit\ndef h(x):" in result.text
    assert [(found.line, found.code) for found in result.diagnostics] == [(4, "NP2TF401")]


def test_ignored_by_comment() -> None:
    text = f"import numpy as np\n\ndef f(x):\n    print(x, file=OUT)  # np2tf: ignore[NP2TF401]\n{WORK}"
    assert np2tf.convert(text).diagnostics == []


ROD = """class Rod:
    def __init__(self, t):
        self.t = np.array(t)
        self.steps = 0

    def step(self):
        self.t[1:-1] += self.t[2:] - self.t[:-2]
        self.steps += 1
        return np.abs(self.t).max()

    def both(self):
        return self.step() + self.step()

    def update(self, x):
        self.t = self.t + x

    def settle(self, most):
        while BODY

    def name(self):
        for letter in "abc":
            self.label(letter)

    def label(self, letter):
        self.letters = letter
"""


@pytest.mark.parametrize(
    "body",
    [
        "self.steps < most and self.step() > 1e-9:\n            pass",
        "self.steps < most:\n            self.step()",
        "self.steps < most:\n            if self.both() < 1:\n                break",
        "self.steps < most:\n            self.update(np.ones(3))\n            self.step()",
    ],
)
def test_loop_that_calls_methods_over_arrays(body: str) -> None:
    """The arrays are seen in the callees only; a method may be named as a dict's."""
    text = convert(ROD.replace("BODY", body))
    assert "@np2tf.jit\n    def settle(self, most):" in text
    assert "@np2tf.jit\n    def name(self):" not in text


@pytest.mark.parametrize(
    "text",
    [
        # np2tf knows the functions of NumPy that end a trace, and not the names of the file that end a trace.
        # The comment "# numpy" makes the translation a file that may have something to translate.
        "# numpy\ndef f(an, m):\n    an = np.asarray(an)\n    for row in range(1, m + 1):\n"
        "        an = an / 2 - an[:row].sum()\n    return np.poly1d(an[::-1] - 1)\n",
        "# numpy\ndef f(a, b):\n    np.random.seed(7)\n    A = np.random.rand(3, 3)\n"
        "    for fig in [a, b]:\n        fig.size(2.9, 2.9)\n    return A\n",
        # Names that stay NumPy's do not show that something is left to be translated.
        "import pickle\nfrom numpy.testing import assert_equal\n\nclass A:\n    def f(self):\n"
        "        for kind in range(2, pickle.HIGHEST_PROTOCOL + 1):\n            dt = np.dtype('M8[7D]')\n"
        "            assert_equal(pickle.loads(pickle.dumps(dt, protocol=kind)), dt)\n"
        "        assert_equal(np.datetime64('2016-01-01') - np.datetime64('2015-01-01'), kind)\n",
    ],
)
def test_a_second_run_stages_nothing_more(text: str) -> None:
    once = convert(text)
    assert "tnp." in once
    assert np2tf.convert(once).text == once


def test_what_is_added_to_a_translation_is_staged() -> None:
    once = convert("def f(x):\n    np.random.seed(7)\n    return x\n")
    text = f"{once}\n\nimport numpy as np\n\ndef g(x):\n    x = tnp.abs(x)\n{WORK}"
    assert "@np2tf.jit\ndef g(x):" in np2tf.convert(text).text


LOADER = """\
from numpy.testing import assert_allclose


class Loader:
    @staticmethod
    def load(path):
        data = np.loadtxt(path, delimiter=",")
        return data[:, 0], data[:, 1:]

    def compare(self, names):
        for name in names:
            x, y = self.load(name)
            for k in 0.01, 0.1:
                assert_allclose(x * k, y * k)
"""


def test_a_second_run_knows_the_calls_that_have_no_place_in_a_graph() -> None:
    """The first run has translated the name of the function, which reads a file."""
    first = np2tf.convert("import numpy as np\n" + LOADER).text
    assert "tnp.loadtxt" in first
    assert np2tf.convert(first).text == first


def test_a_value_on_several_lines_keeps_its_parentheses() -> None:
    """`out[i] = (a +\\n b)` becomes the result of a function."""
    source = "import numpy as np\n\n\ndef f(x, b):\n    y = np.zeros(len(x))\n    for i in range(len(x)):\n"
    text = np2tf.convert(source + "        y[i] = (b * x[i] +\n                b)\n    return y\n").text
    assert "        return (b * x[i] +\n                b)\n" in text
    compile(text, "translation", "exec")
