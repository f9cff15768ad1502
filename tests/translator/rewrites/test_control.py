"""Lowered control flow: the text means what its source meant, or the construct is refused with a code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import np2tf
from np2tf.translator.control import constructs
from tests.helpers.plain_operators import executed

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
CASES = sorted([*FIXTURES.glob("control/*.np.py"), *FIXTURES.glob("jit/*.np.py")])


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.name[:-6]}")
def test_execution(path: Path) -> None:
    """Run with plain Python operators, the translation gives what the source gives."""
    source = path.read_text()
    text = np2tf.convert(source).text
    np.testing.assert_equal(executed(text)["main"](), executed(source)["main"]())


def converted(body: str, head: str = "x, y, n") -> tuple[str, list[str]]:
    text = f"import numpy as np\n\n\ndef f({head}):\n    s = np.sum(x)\n"
    text += "".join(f"    {line}\n" for line in body.splitlines())
    result = np2tf.convert(text)
    return result.text, [found.code for found in result.diagnostics]


TRY = """try:
    if s > 0:
        s = 1
        raise KeyError
except KeyError:
    s += 0
return x[1:] @ x[:-1] + s
"""


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("out = []\nold = out\nfor i in range(n):\n    out.append(x[i])\nreturn old", "NP2TF307"),
        ("out = []\nall = {1: out}\nwhile s > 1:\n    s = s / 2\n    out.append(s)\nreturn all", "NP2TF307"),
        ("out = []\nfor i in range(n):\n    out.insert(0, x[i])\nreturn out", "NP2TF307"),
        ("out = []\ng = lambda: out\nfor i in range(n):\n    out.append(x[i])\nreturn g()", "NP2TF307"),
        ("match s:\n    case 1:\n        s = y\nreturn x[1:] @ x[:-1] + s", "NP2TF301"),
        ("with np.errstate(all='raise'):\n    x = x / s\nreturn x[1:] @ x[:-1]", "NP2TF401"),
        ("while True:\n    if x[0] > s:\n        raise ValueError\n    x = x + 1", "NP2TF301"),
        (TRY, "NP2TF301"),
        ("while s < 9 and (s := s / 2) > 1:\n    x = x + 1\nreturn x", "NP2TF301"),
        ("g = lambda v: v\nfor i in range(n):\n    s = g(s)\n    g = lambda v: v * i\nreturn s", "NP2TF301"),
        ("for i in range(n):\n    if s > 1 and (t := x[i]) > 2:\n        s += t\nreturn s", "NP2TF302"),
        ("for v in [1, 2]:\n    if x[v] > 0:\n        break\nreturn s", "NP2TF303"),
        ("for v in [1, 2]:\n    if x[v] > 0:\n        return v\nreturn s", "NP2TF303"),
        ("for i in range(n):\n    if x[i] > 0:\n        return i", "NP2TF304"),
        ("for i in range(n):\n    s += x[i]\nreturn [v for r in y for v in r if v > 0]", "NP2TF306"),
        ("match n:\n    case int():\n        s += 1\nreturn x[1:] @ x[:-1] * s", "NP2TF301"),
        ("if n.__class__ is int:\n    s += 1\nreturn x[1:] @ x[:-1] * s", "NP2TF401"),
    ],
)
def test_refused(body: str, code: str) -> None:
    text, codes = converted(body)
    assert codes == [code]
    assert "np2tf" not in text.replace("from np2tf import tnp", "")


@pytest.mark.parametrize(
    "test",
    [
        "y is None",
        "isinstance(y, tuple)",
        "x.ndim == 2 and len(x) > 3",
        "x.shape[0] % 2",
        "y == 'mean'",
        "not callable(y)",
        "True",
        "n in (1, 2)",
    ],
)
def test_static_tests_stay(test: str) -> None:
    text, _ = converted(f"if {test}:\n    x = x + 1\nreturn np.abs(x) * x[1:] + s")
    assert "@np2tf.jit" in text
    assert "cond" not in text
    assert f"    if {test}:\n" in text


def test_only_live_names_are_state() -> None:
    text, _ = converted("for i in range(n):\n    t = x[i] * 2\n    s = s + t\nreturn s")
    assert "    s = np2tf.for_loop(np2tf.range(n), step_i, s)\n" in text


def test_state_that_may_be_unbound_on_some_paths_is_preset() -> None:
    text, _ = converted(
        "if y is None:\n    t = 1\nif s > 0:\n    t = 2\nelse:\n    s = 1\n"
        "return np.abs(s * x[1:]) @ x[:-1] + t"
    )
    assert '    t = np2tf.undefined("t")\n' in text


def test_a_lazy_map_over_what_its_loop_writes_stays() -> None:
    """Its function is called round by round, when the name has its new value."""
    text, _ = converted("for v in map(lambda v: v * s, x):\n    s = s + v\nreturn np.abs(s)")
    assert "    for v in map(lambda v: v * s, x):\n" in text


SOURCE = """import numpy as np

def f(x):
    if np.sum(x) > 0:
        x = np.abs(x)
    return x[1:] * x[:-1]
"""


def test_no_lowering_without_jit() -> None:
    assert "np2tf.cond" in np2tf.convert(SOURCE).text
    renamed = SOURCE.replace("import numpy as np", "from np2tf import tnp").replace("np.", "tnp.")
    assert np2tf.convert(SOURCE, np2tf.Options(jit=False)).text == renamed


TAKEN = """then = otherwise = step_i = 1.0
for i in range(n):
    if x[i] > s:
        s += then
        then += 1
return s
"""


def test_names_of_the_user_are_never_shadowed() -> None:
    text, _ = converted(TAKEN)
    assert "np2tf.for_loop" in text
    lines = "".join(f"    {line}\n" for line in TAKEN.splitlines())
    source = f"import numpy as np\ndef f(x, y, n):\n    s = np.sum(x)\n{lines}"
    x = np.array([1.0, 20.0, 30.0, 2.0])
    assert executed(text)["f"](x, 0, 4) == executed(source)["f"](x, 0, 4)


def test_files_of_constructs_are_found() -> None:
    """A file with `CONSTRUCTS` needs no other entry, and no two files lower the same kind of node."""
    folder = Path(constructs.__file__).parent
    rows = re.findall(
        r"cst\.(\w+): \w+Construct\(", "".join(path.read_text() for path in sorted(folder.glob("*.py")))
    )
    found = [kind.__name__ for kind in (*constructs.STATEMENTS, *constructs.SMALL, *constructs.EXPRESSIONS)]
    assert sorted(rows) == sorted(found) == sorted(set(found))
    assert len(found) >= 8


def test_a_loop_has_one_value_several_or_none() -> None:
    text, _ = converted("for i in range(9):\n    print(s + i)\nreturn s * np.sin(x[1:]) @ x[:-1]")
    assert "    np2tf.for_loop(range(9), step_i)\n" in text
    assert "def step_i(i):\n        np2tf.print(s + i)\n\n" in text
    text, _ = converted("while s > 1:\n    s = s / 2\n    # the end\nreturn s * np.sin(x[1:]) @ x[:-1]")
    assert (
        "        s = s / 2\n        # the end\n        return s\n\n"
        "    s = np2tf.while_loop(keep_going, step, s)\n" in text
    )


def helpers_within(text: str) -> list[tuple[str, ...]]:
    """The names of functions within functions, from the outside in."""

    def within(node: ast.AST, around: tuple[str, ...]) -> list[tuple[str, ...]]:
        inside = (*around, node.name) if isinstance(node, ast.FunctionDef) else around
        return [inside, *(path for child in ast.iter_child_nodes(node) for path in within(child, inside))]

    return within(ast.parse(text), ())


@pytest.mark.parametrize(
    "heads",
    [
        ("for _ in range(n):", "for _ in range(n):"),
        ("for i in range(n):", "for i in range(n):"),
        ("while s > 0:", "while s > 0:"),
        ("while s > 0:", "for _ in range(n):", "while s > 1:"),
        ("for i, v in enumerate(x):", "for i, v in enumerate(x):", "for _ in range(n):", "while s > 0:"),
    ],
)
def test_helpers_in_one_another_have_different_names(heads: tuple[str, ...]) -> None:
    lines = [f"{'    ' * depth}{head}" for depth, head in enumerate(heads)]
    body = ["if s > 3:", "    s = s - np.sum(x[1:] * x[:-1])", "    break"]
    lines += [f"{'    ' * len(heads)}{line}" for line in body]
    text, _ = converted("\n".join([*lines, "return s"]))
    paths = helpers_within(text)
    assert max(map(len, paths)) > len(heads)
    assert all(len(set(path)) == len(path) for path in paths)


CHAIN = """if {}:
    s = 1
elif {}:
    s = x[0]
elif {}:
    s = x[1]
return s * np.sin(x[1:]) @ x[:-1]
"""


@pytest.mark.parametrize(
    ("tests", "pairs"),
    [
        (("s > 3", "s > 1", "s > -2"), ("s > 3", "s > 1", "s > -2")),
        (("s == n - 2", "s == n", "n != s"), ("s == n - 2", "s == n", "n != s")),
        # What might raise, warn, or do anything is asked only where the source asks it.
        (("s == 3", "s > 1", "s != 1"), ("s == 3", "lambda: s > 1", "s != 1")),
        (("s > 3", "x[n] > 1", "s > n"), ("s > 3", "lambda: x[n] > 1", "lambda: s > n")),
        (("s > x[0]", "s > 1", "s - 1 == 0"), ("s > x[0]", "lambda: s > 1", "lambda: s - 1 == 0")),
        (("s > y", "s > 1", "y > s"), ("s > y", "lambda: s > 1", "y > s")),
        (("s", "s > 1", "not s"), ("lambda: s", "lambda: s > 1", "lambda: np2tf.not_(s)")),
        (
            ("s > 1 and n > 2", "s > 1", "np.any(s)"),
            ("np2tf.and_(s > 1, lambda: n > 2)", "lambda: s > 1", "lambda: tnp.any(s)"),
        ),
    ],
)
def test_a_chain_is_a_case(tests: tuple[str, ...], pairs: tuple[str, ...]) -> None:
    text, _ = converted(CHAIN.format(*tests))
    listed = ", ".join(f"({test}, lambda: {value})" for test, value in zip(pairs, ("1", "x[0]", "x[1]")))
    call = f"    s = np2tf.case([{listed}], default=lambda: s)\n"
    assert ast.dump(ast.parse(call.strip()).body[0]) in ast.dump(ast.parse(text))
    assert "np2tf.cond" not in text


def test_a_chain_with_an_assignment_in_a_test_stays_nested() -> None:
    text, _ = converted(CHAIN.format("s > 3", "(t := x[2]) > 1", "t < 0"))
    assert "    s = np2tf.cond(s > 3, lambda s: 1, otherwise, s)\n" in text
    assert "[((t := x[2]) > 1, lambda: x[0]), (lambda: t < 0, lambda: x[1])]" in text


def test_long_branches_of_a_chain_are_helpers() -> None:
    """They take what they change as operands; comments stay with their branches."""
    text, _ = converted(
        "if s > 3:  # large\n    for i in range(n):\n        s = s - x[i]\n# middle\nelif s > 1:\n"
        "    s = s / 2\n"
        "    y = y * s\nelse:\n    s = s * 2\n    # the end\nreturn s * np.sin(x[1:]) @ x[:-1] * y"
    )
    assert "    def case_1(s, y):  # large\n" in text
    assert "    # middle\n    def case_2(s, y):\n" in text
    assert "        # the end\n        return s, y\n" in text
    assert "    s, y = np2tf.case([(s > 3, case_1), (s > 1, case_2)], otherwise, s, y)\n" in text


def test_returns_of_a_chain() -> None:
    text, _ = converted(
        "if s > 3:\n    return x\nif s > 1:\n    return -x\nreturn np.sin(x[1:] * 2) * x[:-1]"
    )
    assert "    return np2tf.case(\n" in text
    assert "[(s > 3, lambda: x), (s > 1, lambda: -x)]" in text
