"""Random small programs over arrays that alias: branches, loops, swaps, views and writes, as text."""

from __future__ import annotations

from hypothesis import strategies as st

#: Names that are arrays of the same shape at all times, so that they may be swapped.
ARRAYS = ("a", "b", "c")
NUMBERS = ("s", "t")


@st.composite
def numbers(draw: st.DrawFn) -> str:
    """Return a strategy for the text of a number."""
    name, index = draw(st.sampled_from(ARRAYS)), draw(st.sampled_from(("0", "1", "-1", "2", "k % 4")))
    forms = (*NUMBERS, f"{name}[{index}]", f"{name}.sum()", f"{name}.max()", "2", "0.5", "k")
    return draw(st.sampled_from(forms))


@st.composite
def arrays(draw: st.DrawFn) -> str:
    """Return a strategy for an array of the common shape, either an existing or a new array."""
    name, other_name = draw(st.sampled_from(ARRAYS)), draw(st.sampled_from(ARRAYS))
    number = draw(numbers())
    forms = (
        name,
        f"{name}.copy()",
        f"{name} * 0.5",
        f"{name} + {other_name}",
        f"{name} - {number}",
        f"{name}[::-1]",
    )
    return draw(st.sampled_from((*forms, "np.zeros(4)", f"np.minimum({name}, {other_name})")))


@st.composite
def tests(draw: st.DrawFn) -> str:
    """Return a strategy for the text of a condition."""
    sign = draw(st.sampled_from(("<", ">", ">=", "==")))
    return f"{draw(numbers())} {sign} {draw(numbers())}"


def indented(lines: list[str]) -> list[str]:
    """Return the lines of a block, indented."""
    return ["    " + line for line in lines]


@st.composite
def statements(draw: st.DrawFn, depth: int) -> list[str]:
    """Draw one statement."""
    name, other_name = draw(st.sampled_from(ARRAYS)), draw(st.sampled_from(ARRAYS))
    kinds = ["bind", "element", "slice", "in place", "swap", "number", "view"]
    kind = draw(st.sampled_from(kinds + (["if", "if", "for", "for", "while"] if depth else [])))
    if kind == "bind":
        return [f"{name} = {draw(arrays())}"]
    if kind == "element":
        index = draw(st.sampled_from(("0", "1", "-1", "k % 4")))
        return [f"{name}[{index}] {draw(st.sampled_from(('=', '+=', '*=')))} {draw(numbers())}"]
    if kind == "slice":
        here, there = draw(st.sampled_from((("1:", ":-1"), (":2", "2:"), ("::2", "1::2"), (":", "::-1"))))
        return [f"{name}[{here}] {draw(st.sampled_from(('=', '+=')))} {other_name}[{there}]"]
    if kind == "in place":
        return [
            f"{name} {draw(st.sampled_from(('+=', '-=', '*=')))} {draw(st.sampled_from((other_name, '0.5')))}"
        ]
    if kind == "swap":
        return [f"{name}, {other_name} = {other_name}, {name}"]
    if kind == "number":
        return [f"{draw(st.sampled_from(NUMBERS))} = {draw(numbers())}"]
    if kind == "view":
        return [f"v = {name}[1:]", f"v[0] += {draw(numbers())}"]
    body = indented(draw(blocks(depth - 1)))
    if kind == "if":
        lines = [f"if {draw(tests())}:", *body]
        return lines + (["else:", *indented(draw(blocks(depth - 1)))] if draw(st.booleans()) else [])
    if kind == "for":
        return [f"for k in range({draw(st.sampled_from(('9', '10', 'n')))}):", *body]
    counter = f"w{depth}"
    return [f"{counter} = 0", f"while {counter} < 3 and {draw(tests())}:", *body, f"    {counter} += 1"]


@st.composite
def blocks(draw: st.DrawFn, depth: int) -> list[str]:
    """Draw a block of statements."""
    return [line for _ in range(draw(st.integers(1, 3))) for line in draw(statements(depth))]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Return a module with one function ``f(a, b, n)``."""
    lines = ["c = np.zeros(4)", "s = t = 1.0", "k = 0"]
    for _ in range(draw(st.integers(2, 4))):
        lines += draw(statements(2))
    if draw(st.booleans()):
        lines.append(f"return {draw(st.sampled_from(ARRAYS))}, s")
    else:
        lines.append("return a + b * c, s, t")
    return "import numpy as np\n\n\n" + "\n".join(["def f(a, b, n):", *indented(lines)]) + "\n"
