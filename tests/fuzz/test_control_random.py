"""Random small programs mean the same before and after lowering."""

from __future__ import annotations

import contextlib
import copy
import io
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import np2tf
from tests.helpers.plain_operators import executed

NAMES = ("a", "b", "c")
HEADERS = (
    "for i in range(a % 4):",
    "for k in range(x[1] % 3):",
    "for v in x:",
    "for i, (v, k) in enumerate(zip(x, x)):",
    "for a in range(c % 3):",
)


@st.composite
def expressions(draw: st.DrawFn) -> str:
    left = draw(st.sampled_from((*NAMES, "x[0]", "x[1]", "np.sum(x)", "1", "2")))
    right = draw(st.sampled_from((*NAMES, "x[2]", "3", "0")))
    return draw(st.sampled_from((f"{left} + {right}", f"{left} - {right}", f"{left}", f"{left} * 2")))


#: Inner functions: `peek` reads, `bump` rebinds, `both` and `own` read and rebind.
CLOSURES = [
    "peek = lambda v: v + a - b",
    "def bump(v):",
    "    nonlocal c, b",
    "    c = v + 1",
    "    b = b + c",
    "    return c - 2",
    "def both(v):",
    "    return peek(v) + bump(v)",
    "def own(v):",
    "    nonlocal a",
    "    for i in range(v % 3):",
    "        if b > x[i]:",
    "            a = a + peek(i)",
    "    return a",
]


@st.composite
def conditions(draw: st.DrawFn) -> str:
    first = f"{draw(expressions())} {draw(st.sampled_from(('<', '>', '==')))} {draw(expressions())}"
    second = f"{draw(st.sampled_from(NAMES))} > 1"
    form = draw(st.sampled_from(("{}", "{}", "not ({})", "{} and {}", "{} or {}", "0 < a < 4")))
    return form.format(first, second)


@st.composite
def blocks(draw: st.DrawFn, depth: int, loop: bool, more: tuple[str, ...] = ()) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(statements(depth, loop, more))
    return lines


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


@st.composite
def simple(draw: st.DrawFn, kind: str, name: str) -> str:
    """A statement of one line."""
    if kind == "assign":
        return f"{name} = {draw(expressions())}"
    if kind == "inner":
        return f"{name} = {draw(st.sampled_from(('peek', 'bump', 'both', 'own')))}({draw(expressions())})"
    if kind == "augment":
        return f"{name} += {draw(expressions())}"
    if kind == "store":
        return f"x[{draw(st.integers(0, 2))}] {draw(st.sampled_from(('=', '+=')))} {draw(expressions())}"
    if kind == "call":
        return f"{name} = {draw(expressions())} if {draw(conditions())} else {draw(expressions())}"
    if kind == "return":
        return f"return a, {draw(st.sampled_from(NAMES))}, x, n"
    if kind == "assert":
        return f"assert {draw(conditions())}, 'a is %s' % a"
    if kind == "print":
        shown = (f"'{name} is', {name}", f"f'{{{name}}} {{x[0]:>4}}', sep=''", f"'%s %r' % (n, {name})")
        return f"print({draw(st.sampled_from(shown))})"
    if kind == "raise":
        return f"raise ValueError({name})"
    return kind


@st.composite
def statements(draw: st.DrawFn, depth: int, loop: bool, more: tuple[str, ...] = ()) -> list[str]:
    kinds = [*more, "assign", "assign", "augment", "store", "call", "assert", "print"]
    if depth:
        kinds += ["if", "if", "if", "for", "while", "return", "try", "try"]
    if depth < 3:
        kinds += ["raise"]
    if loop:
        kinds += ["break", "continue", "return"]
    kind = draw(st.sampled_from(kinds))
    name = draw(st.sampled_from(NAMES))
    if kind == "if":
        lines = [f"if {draw(conditions())}:", *indented(draw(blocks(depth - 1, loop, more)))]
        if draw(st.booleans()):
            lines += [f"elif {draw(conditions())}:", *indented(draw(blocks(depth - 1, loop, more)))]
        if draw(st.booleans()):
            lines += ["else:", *indented(draw(blocks(depth - 1, loop, more)))]
        return lines
    if kind == "for":
        header = draw(st.sampled_from(HEADERS))
        lines = [header, *indented(draw(blocks(depth - 1, True, more)))]
        return lines + (
            ["else:", *indented(draw(blocks(depth - 1, loop, more)))] if draw(st.booleans()) else []
        )
    if kind == "try":
        return draw(tries(depth, loop))
    if kind == "while":
        test = draw(st.sampled_from(("n < 5", "n < 4 and a < 9", "True")))
        body = ["n += 1", "if n > 7:", "    break", *draw(blocks(depth - 1, True, more))]
        lines = [f"while {test}:", *indented(body)]
        return lines + (
            ["else:", *indented(draw(blocks(depth - 1, loop, more)))] if draw(st.booleans()) else []
        )
    return [draw(simple(kind, name))]


@st.composite
def tries(draw: st.DrawFn, depth: int, loop: bool) -> list[str]:
    lines = ["try:", *indented(draw(blocks(depth - 1, loop)))]
    if draw(st.integers(0, 3)):
        lines += ["except ValueError as error:", "    print('caught', error)"]
        lines += indented(draw(blocks(depth - 1, loop)))
    if draw(st.booleans()):
        lines += ["except (AssertionError, ZeroDivisionError):", *indented(draw(blocks(depth - 1, loop)))]
    handled = any(line.startswith("except") for line in lines)
    ends = draw(st.integers(0, 3)) if handled else 2
    if ends & 1:
        lines += ["else:", *indented(draw(blocks(depth - 1, loop)))]
    if ends & 2:
        lines += ["finally:", *indented(draw(blocks(depth - 1, False)))]
    return lines


@st.composite
def programs(draw: st.DrawFn, inner: bool = False) -> str:
    first = draw(st.sampled_from((["c = 2"], ["c = 3"], ["c = 1"], [])))
    # Enough array work for the function to be staged.
    body = ["n = 0", "b = np.sum(np.abs(np.minimum(x, 5)))", *first]
    if inner:
        body += ["c = 0", *CLOSURES, *draw(blocks(3, False, ("inner", "inner", "inner")))]
    else:
        body += draw(blocks(3, False))
    body += ["return a, b, x, n"]
    lines = ["import numpy as np", "", "", "def f(x, a):", *indented(body)]
    return "\n".join(lines) + "\n"


def outcome(text: str) -> Any:
    """Return the result or error of `f`, and its output; "unbound" where it reads an unbound name."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        result = returned(text)
    return result if isinstance(result, str) else (result, printed.getvalue())


def returned(text: str) -> Any:
    array, number = np.array([3, 1, 2]), 2
    try:
        return executed(text)["f"](array, number), copy.copy(array)
    except (UnboundLocalError, NameError):
        return "unbound"
    except (AssertionError, ValueError) as error:
        return type(error), str(error), array
    except (OverflowError, ZeroDivisionError) as error:
        return type(error)


@given(programs())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_lowered_program_means_the_same(text: str) -> None:
    compare(text)


@given(programs(inner=True))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_lowered_program_with_inner_functions_means_the_same(text: str) -> None:
    compare(text)


def compare(text: str) -> None:
    result = np2tf.convert(text)
    expected = outcome(text)
    got = outcome(result.text)
    if isinstance(expected, str) or isinstance(got, str):
        assert type(got) is type(expected) or "undefined" in result.text, result.text
        return
    np.testing.assert_equal(got, expected, result.text)
    again = np2tf.convert(result.text)
    assert again.text == result.text
