"""Parts of loops that np2tf builds for XLA alone: whole-array writes, strands of sums, kept values."""

from __future__ import annotations

import re
import textwrap

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.tensors.axis_reductions import inner_product
from np2tf.staging.xla import loop_passes
from tests.helpers.differential import HEAD, arguments_of, compare, load, translation

#: statements of a loop over k: `u` is read and kept, `v` is written; both are 40 × 50.
WRITES = {
    "inner points": "v[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + k",
    "a broadcast row": "v[1:-1, 2:] = u[0, 2:] * k",
    "a broadcast column": "v[:-1, 1:] = u[:-1, :1] + k",
    "a number": "v[1:, :] = k * 0.5",
    "all rows, some columns": "v[:, 3:] = u[:, 3:] - k",
    "all": "v[:, :] = u * k",
    "of itself": "v[1:-1, 1:-1] = v[2:, 1:-1] + v[:-2, 1:-1]",
    "integers into floats": "v[1:, 1:] = np.arange(49) + k",
    "a small part": "v[3:5, 2:4] = u[3:5, 2:4] + k",
    "edges after the whole": "v[...] = u + k\n        v[0, :] = v[1, :]\n        v[:, -1] = v[:, -2]",
}


@pytest.mark.parametrize("statement", WRITES.values(), ids=WRITES)
def test_writes_of_most_of_an_array(statement: str) -> None:
    source = f"def f(u, v):\n    for k in range(7):\n        {statement}\n    return v.sum()\n"
    arrays = "np.linspace(0, 1, 2000).reshape(40, 50)"
    compare(HEAD + source, f"{arrays}, {arrays} - 3.0", f"{arrays}, np.full((40, 50), -0.0)")


def test_the_rest_of_the_array_stays_and_has_a_gradient() -> None:
    """Infinities and NaN outside of what is written are kept, and gradients part at the edge."""

    @np2tf.jit
    def written(base, value):  # type: ignore[no-untyped-def]
        base = tnp.at(base)[1:39, 2:50].set(value)
        return base * 1.0

    base = np.arange(2000.0).reshape(40, 50)
    base[0], base[-1], base[:, 0] = np.inf, np.nan, -np.inf
    value = np.full((38, 1), 7.0)
    expected = base.copy()
    expected[1:39, 2:50] = value
    with tf.GradientTape() as tape:
        given = [tf.constant(base), tf.constant(value)]
        tape.watch(given)
        with np2tf.config.using(tier="compile"):
            found = tf.convert_to_tensor(written(*given))
    np.testing.assert_array_equal(found, expected)
    of_base, of_value = tape.gradient(found, given)
    outside = np.ones((40, 50))
    outside[1:39, 2:50] = 0
    np.testing.assert_array_equal(of_base, outside)
    np.testing.assert_array_equal(of_value, np.full((38, 1), 48.0))


@pytest.mark.parametrize("size", [0, 1, 15, 16, 63, 64, 100, 256, 1000, 1001, 4099])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex128"])
@pytest.mark.parametrize("masked", [False, True])
def test_inner_products_of_every_length(size: int, dtype: str, masked: bool) -> None:
    generator = np.random.default_rng(size)
    a, b = (generator.integers(-9, 9, size).astype(dtype) for _ in range(2))
    mask = generator.random(size) < 0.5 if masked else np.ones(size, bool)

    @tf.function(jit_compile=True, autograph=False)
    def product(a: tf.Tensor, b: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
        return inner_product(a, b, mask if masked else None)

    found = product(tf.constant(a), tf.constant(b), tf.constant(mask)).numpy()
    assert found.dtype == a.dtype
    # Small integers: the sum is exact in whatever order.
    assert found == (a * b)[mask].sum()


def test_what_the_mask_leaves_out_may_be_anything() -> None:
    values = np.array([1.0, np.nan, np.inf, 2.0] * 64)
    found = tf.function(lambda v: inner_product(v, v, tf.math.is_finite(v)), jit_compile=True)(values)
    assert found.numpy() == 5.0 * 64


SHARED = """
def f(x, n):
    y = np.zeros_like(x)
    total = 0.0
    for k in range(n):
        w = 0.1 * x * x + 0.2 * x * y + 0.3 - 0.125 * x + 0.05 * y * y
        total = total + np.vdot(w, x) + w.max()
        y = 0.5 * w + 0.125 * y
        x = x - 0.001 * w
    return x, y, total
"""


@pytest.mark.parametrize("shape", [(8, 8), (40, 50), (1000, 48), (7, 11)], ids=str)
def test_any_and_all_see_every_element(shape: tuple[int, ...]) -> None:
    @tf.function(jit_compile=True)
    def found(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
        pairs = (tnp.any(x), tnp.all(x), tnp.any(~x, keepdims=True), tnp.all(~x, keepdims=True))
        return tuple(tf.convert_to_tensor(pair) for pair in pairs)

    size = int(np.prod(shape))
    for place in {0, 1, size // 2, size - 1}:
        x = np.zeros(size, bool)
        x[place] = True
        for given in (x.reshape(shape), ~x.reshape(shape)):
            expected = (given.any(), given.all(), (~given).any(keepdims=True), (~given).all(keepdims=True))
            for found_tensor, expected_array in zip(found(tf.constant(given)), expected, strict=True):
                np.testing.assert_array_equal(found_tensor, expected_array)


def test_values_with_several_uses_are_kept_and_right(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = []
    keep = loop_passes.materialize
    monkeypatch.setattr(loop_passes, "materialize", lambda *given: kept.append(1) or keep(*given))
    compare(HEAD + SHARED, "np.linspace(0.1, 1, 5000), 150")
    assert kept


#: Bodies of a loop over k, of `x` with 40 × 50 elements -> whether XLA would compute a value many times.
STENCILS = {
    "sums alone": ("x = x * 0.5 + x * x * k", False),
    "a stencil of an array": ("x = 0.2 * (np.roll(x, 1, 0) + np.roll(x, 2, 1) - x)", False),
    "stencils of stencils": (
        """
        dx = np.roll(x, -1, 0) - np.roll(x, 1, 0)
        face = x - np.sqrt(abs(dx)) / (2.0 + k)
        flux = np.roll(face, -1, 0) * np.roll(face, 1, 1) / (1.0 + face**2)
        x = x - 0.1 * (flux - np.roll(flux, 1, 0)) - 0.1 * (flux - np.roll(flux, 1, 1))
        """,
        True,
    ),
    "slices of slices": (
        """
        dx = x[1:, :] / (x[:-1, :] ** 2 + 3.0)
        flux = dx[:, 1:] / (dx[:, :-1] ** 2 + 2.0)
        x[1:-1, 1:-1] = 0.5 * (flux[1:, 1:] * flux[:-1, 1:] - flux[1:, :-1] + flux[:-1, :-1])
        """,
        True,
    ),
    "one value in several results": (
        "y = np.exp(x) / (1.0 + x**2); x, z, s = y - 1.0, y + z, s + y.sum()",
        True,
    ),
    "in a branch": (
        """
        if s > 20:
            x = x - 0.01 * s / x.size
        else:
            face = np.exp(-x) / (np.roll(x, 1, 0) + 2.0)
            x = np.roll(face, 1, 0) + np.roll(face, 1, 1) - np.roll(face, -1, 0)
        s = x.sum()
        """,
        True,
    ),
}


@pytest.mark.parametrize("name", STENCILS)
def test_stencils_of_stencils_are_computed_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """XLA would compute them again for each place from which they are read."""
    body, is_kept = STENCILS[name]
    kept = []
    keep = loop_passes.materialize
    monkeypatch.setattr(loop_passes, "materialize", lambda *given: kept.append(1) or keep(*given))
    lines = "".join(f"        {line}\n" for line in textwrap.dedent(body).strip().splitlines())
    source = f"def f(x):\n    z, s = x, 0.0\n    for k in range(12):\n{lines}    return x, z, s\n"
    compare(HEAD + source, "np.cos(np.arange(2000.0)).reshape(40, 50)")
    assert bool(kept) == is_kept


#: Loops that write rows of `c` and `d`, both from what was the last row of `c`; 40 × 200.
ROWS = {
    "a tridiagonal system": """
        centre = 3.0 + a[i] * c[i - 1]
        c[i] = a[i] / centre
        d[i] = (a[i] - d[i - 1]) / centre
    """,
    "under a condition on the counter": """
        x = c[i - 1] * 0.5 if i > 3 else a[i]
        c[i] = a[i] - x
        d[i] = x + d[i - 1]
    """,
    "written by a loop inside": """
        x = c[i - 1] * 0.5
        for j in range(m):
            c[i, j] = x[j] + a[i, j]
        d[i] = x + d[i - 1]
    """,
    "several rows": """
        x = c[i - 1 : i + 1] * 0.5
        c[i : i + 2] = x + a[i]
        d[i] = x[0] - x[1]
    """,
    "chosen columns": """
        x = c[i - 1][::-1] + d[i - 1, k]
        c[i] = a[i] - x
        d[i] = x * 0.5
    """,
    "a sum as well": """
        x = c[i - 1] * 0.5
        c[i] = np.where(a[i] > 0.5, x, a[i])
        s += (x * x).sum()
        d[i] = x - s
    """,
    "read between two writes": """
        c[i] = a[i] * 2.0
        x = c[i - 1] - c[i]
        c[i] = x + 1.0
        d[i] = x
    """,
}
LOOP = """
def f(a, k):
    n, m = a.shape
    c, d = np.zeros_like(a), np.ones_like(a)
    s = 0.0
    for i in range(1, n - 1):{body}
    return c, d, s
"""


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_read_before_they_are_written(name: str) -> None:
    source = HEAD + LOOP.format(body=ROWS[name])
    arrays = "np.cos(np.arange(8000.0)).reshape(40, 200), np.arange(200)[::-1].copy()"
    compare(source, arrays)
    function = load(translation(source))["f"]
    with np2tf.config.using(tier="compile"):  # which takes as long as it takes
        code = function.lower(*arguments_of(arrays, {"np": np}))
    copies = len(re.findall(r"f64\[40,200\]\S* copy\(", code.hlo(optimized=True)))
    # XLA makes the first of two writes a part of what reads between them.
    assert copies == (2 if name == "read between two writes" else 0)


#: Branches of a loop over i that write rows of `c`, which is 40 × 200, and how often it is copied for that.
SIDES = {
    "the same row": ("c[i] = a[i]", "c[i] = a[i] + 0.5 * c[i - 1]", 0),
    "other rows": ("c[i] = a[i] + c[i - 1]", "c[i + 1] = a[i] - c[i - 1]", 0),
    "one side only": ("c[i] = a[i] + c[i - 1]", "pass", 0),
    "two rows and one": ("c[i] = a[i]; c[i + 1] = -a[i]", "c[i - 1] = a[i] * 2.0", 0),
    "what was just written": ("c[i] = a[i]; c[i + 1] = c[i] * 2.0", "c[i] = a[i - 1]", None),
    "a row and a column": ("c[i] = a[i]", "c[:, i] = a[:, i]", None),
    "a row and an element": ("c[i] = a[i]", "c[i, 3] = a[i, 4]", None),
    "most of the array": ("c[1:] = a[1:] + i", "c[i] = a[i]", None),
    "a row and a sum": ("c[i] = a[i]; s += a[i].sum()", "c[i] = s", 0),
    "a branch inside": (
        "c[i] = a[i]",
        "\n            if a[i, 1] > 0.2:\n                c[i] = -a[i] * c[i - 1]"
        "\n            else:\n                c[i] = a[i - 1]",
        0,
    ),
    "a loop inside": (
        "c[i] = a[i]",
        "\n            for j in range(m):\n                c[i, j] = a[i, j] + c[i - 1, j]",
        None,
    ),
    "integers": ("c[i] = 3", "c[i] = True", 0),
}
BRANCHING_LOOP = """
def f(a):
    n, m = a.shape
    c = np.ones_like(a)
    s = 0.0
    for i in range(1, n - 1):
        if {test}:
            {yes}
        else:
            {no}
    return c, s
"""


@pytest.mark.parametrize("test", ["i < 4", "a[i, 0] > 0.0"])
@pytest.mark.parametrize("name", SIDES)
def test_branches_give_the_rows_that_they_write(name: str, test: str) -> None:
    yes, no, expected = SIDES[name]
    source = HEAD + BRANCHING_LOOP.format(test=test, yes=yes, no=no)
    array = "np.cos(np.arange(8000.0)).reshape(40, 200)"
    compare(source, array)
    function = load(translation(source))["f"]
    with np2tf.config.using(tier="compile"):
        code = function.lower(*arguments_of(array, {"np": np})).hlo(optimized=True)
    copies = len(re.findall(r"f64\[40,200\]\S* copy\(", code))
    assert expected in (None, copies)


MASKED_LOOP = """
def f(x, mask, value):
    for k in range(5):
        x[mask > k] {operator}= value
        mask = mask + 1
    return x
"""


#: Operators that are staged as another one; they run with `-m long`.
SIMILAR = [pytest.param(operator, marks=pytest.mark.long) for operator in ("-", "|", "^", ">>", "%", "<<")]


@pytest.mark.parametrize("operator", ["+", "*", "/", "//", "&", *SIMILAR])
def test_updates_under_a_mask_by_one_value(operator: str) -> None:
    """The places that are true are not counted, so that XLA compiles them."""
    numbers = ("np.arange(12)", "np.arange(12).reshape(4, 3)", "np.arange(12, dtype=np.int8).reshape(3, 4).T")
    if operator in "+-*/":
        numbers += ("np.arange(12.0)", "np.arange(24.0).reshape(12, 2)[:, 0]", "np.arange(12) * 1j")
    masks = ("np.arange(len(x)) - 3", "np.arange(x.size).reshape(x.shape) - 8")
    values = ("3", "0", "2.5", "300", "True", "np.array([2])", "np.arange(3)")
    calls = [f"*(lambda x: (x, {m}, {v}))({x})" for x in numbers for m in masks for v in values]
    source = HEAD + MASKED_LOOP.format(operator=operator)
    compare(source, *calls, ran=None, messages=False)
    if operator != "/":
        function = load(translation(source))["f"]
        with np2tf.config.using(tier="compile"):
            assert function.lower(np.arange(12), np.arange(12) - 3, 3).how == "xla"


BRANCHES = """
def f(x, n):
    a = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            if x[i] > x[j]:
                a[{yes}] = {value}
            else:
                a[{no}] = x[j] - 1.0
    return a
"""


@pytest.mark.parametrize("no", ["i, j", "j, i", "j, j", "i, 0", "-1, j"])
@pytest.mark.parametrize("value", ["x[i]", "a[j, i] + x[j]", "a[i, j] * 2.0 + 1.0"])
def test_elements_written_by_both_sides_of_a_branch(no: str, value: str) -> None:
    source = BRANCHES.format(yes="i, j", no=no, value=value)
    compare(HEAD + source, "np.cos(np.arange(9.0) * 5), 9", "np.arange(5.0), 5")


@pytest.mark.parametrize(
    ("rows", "write"),
    [
        ("y, e = np.zeros((2, len(x)))", "y[n] = x[n] * 2\n        e[n] = x[n] - y[n]"),
        ("a = np.zeros((3, len(x), 2))\n    y = a[1]", "y[n, 1] = x[n]\n        y[n, 0] += 1.0"),
        ("a = np.zeros((len(x), 4, 5))\n    y = a[:, 2]", "y[n, 1:3] = x[n]\n        y[n][4] = 2.0"),
    ],
)
def test_elements_of_rows_are_written_at_once(rows: str, write: str) -> None:
    """The row would be copied twice for each."""
    last = "e" if rows.startswith("y, e") else "a"
    body = f"    {rows}\n    for n in range(len(x)):\n        {write}\n    return y, {last}\n"
    source = f"{HEAD}def f(x):\n{body}"
    compare(source, "np.arange(40.0)")
    with np2tf.config.using(tier="compile"):
        hlo = load(translation(source))["f"].lower(np.arange(40.0)).hlo()
    updated = re.findall(r"= f64\[([\d,]+)\]\S* dynamic-update-slice\(", hlo)
    assert len(updated) == 2
    assert all(len(shape.split(",")) == (2 if last == "e" else 3) for shape in updated)


#: Statements of a loop over k from 1 to 39; `x` has 40 elements, `y` 60 and `a` 40 × 6.
ELSEWHERE = {
    "a product of two slices": "out[k] = np.sum(x[k:] * x[: n - k])",
    "of another array": "out[k] = np.sum(x[k:] + y[: n - k]) + y[k : 2 * k].sum()",
    "an inner product": "out[k] = x[k:] @ x[: n - k] + np.dot(y[k : 2 * k], x[:k])",
    "means": "out[k] = np.mean((x[k:] - 1.5) * (x[: n - k] - 1.5))",
    "the greatest": "out[k] = np.max(x[k:] - y[: n - k])",
    "backwards": "out[k] = np.sum(x[:k] * x[n - k :][::-1])",
    "rows": "out[k] = np.sum(a[k:] * a[: n - k], axis=0)[1]",
    "written elsewhere": "out[k:] = x[: n - k]",
    "added to elsewhere": "out[: n - k] += x[k:] * y[:n][k:]",
    "a part turned round": "x[k // 2 : k] = x[k // 2 : k][::-1].copy()\n        out[k] = x[k]",
    "a copy of a part": "part = np.copy(x[k:])\n        x[k:] = 1.0\n        x[k:] = part + 1",
    "rows written elsewhere": "a[k:, 2] = a[: n - k, 3] * 0.5",
}


@pytest.mark.parametrize("statement", ELSEWHERE.values(), ids=ELSEWHERE)
def test_slices_that_lie_elsewhere(statement: str) -> None:
    source = (
        "def f(x, y, a):\n    n = len(x)\n    out = np.zeros(n)\n"
        f"    for k in range(1, n):\n        {statement}\n    return out, a\n"
    )
    call = "np.arange(40.0) % 7, np.arange(60.0) % 11, np.arange(240.0).reshape(40, 6) % 13"
    compare(HEAD + source, call)
    translated = load(translation(HEAD + source))["f"]
    with np2tf.config.using(jit="on", tier="compile"):  # which takes as long as it takes
        assert set(translated.lower(*arguments_of(call)).loops) == {"xla"}


def test_slices_of_other_lengths() -> None:
    """NumPy raises, or repeats an array of one element."""
    source = """
def f(x, last):
    total = 0.0
    for k in range(1, last):
        total += np.sum(x[:k] * x[2 : 2 + min(k, 5)])
    return total
"""
    compare(HEAD + source, "np.arange(30.0), 6", "np.arange(30.0), 20", ran=None)
    source = source.replace("2 + min(k, 5)", "3")
    compare(HEAD + source, "np.arange(30.0), 20", ran=None)


def test_lists_of_views() -> None:
    source = """
def corner(row):
    return row[:2]


def f(x):
    made = [corner(row) for row in x]
    turned = []
    for row in x:
        turned.append(row.reshape(2, 2).T)
    return np.array(made), np.array(turned)
"""
    compare(HEAD + source, "np.arange(80.0).reshape(20, 4)", "np.arange(12.0).reshape(3, 4)")


def test_divisions_of_python_numbers() -> None:
    """Where a divisor is zero, the host raises Python's error."""
    source = """
def f(x, n):
    total = 0.0
    for i in range(len(x)):
        total += 1.0 / (2.0 + float(x[i])) + int(x[i]) // n + 7 % n + float(x[i]) % 3.0 / n
    return total, np.sum(x)
"""
    compare(HEAD + source, "np.arange(30.0), 4", "np.arange(30.0), 5", "np.arange(30.0), -6")
    compare(HEAD + source, "np.arange(30.0) - 2, 4", "np.arange(30.0), 0", ran=None)
