"""Random compositions of operations give NumPy's results, whatever compilers make of them.

XLA, LLVM and Grappler rewrite combinations of operations, which no test of single operations can see. Each
expression has 2 to 6 levels of arithmetic, comparisons, masks, conversions, reductions and selections, over
special values and ordinary ones, with constants and with numbers that change from call to call.
`composed_expressions` says what a result may be: bit for bit NumPy's, but for what docs/floating-point.md
allows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.helpers.composed_expressions import (
    NUMBERS,
    OPERATIONS,
    Expression,
    Known,
    arguments,
    expression,
)
from tests.helpers.composed_ways import CALLS, WAYS, differences, reduced, source_of
from tests.helpers.differential import load

#: How many expressions are one function.
PACK = 25
#: expressions of the usual run, and of the long one
USUAL, MANY = 500, 20_000
#: way -> one pack of how many runs in it in the usual run; XLA takes the most time.
SHARE = {"xla": 4, "graph": 4, "tf.function": 3, "saved model": 5, "eager": 1}
CHUNK = 500


def judge(start: int, stop: int, way: str) -> None:
    """Run the expressions of these seeds; those that differ are printed as small as they can be made."""
    told = []
    for seed in range(start, stop, PACK):
        made = [expression(k) for k in range(seed, min(seed + PACK, stop))]
        for found in differences(made, way, seed):
            told.append(
                f"seeds {seed} to {seed + PACK}, {reduced(found, seed)}\n    from {found.expression.text}"
            )
    assert not told, "\n".join(told)


@pytest.mark.parametrize("way", WAYS)
def test_composed_operations(way: str) -> None:
    for number, start in enumerate(range(0, USUAL, PACK)):
        if (number + list(WAYS).index(way)) % SHARE[way] == 0:
            judge(start, start + PACK, way)


@pytest.mark.long
@pytest.mark.parametrize("start", range(USUAL, USUAL + MANY, CHUNK))
@pytest.mark.parametrize("way", WAYS)
def test_many_composed_operations(way: str, start: int) -> None:
    judge(start, start + CHUNK, way)


# -- the judge ------------------------------------------------------------------------------------------


def given(seed: int) -> dict:
    return arguments(seed) | dict(zip(NUMBERS, CALLS[0][1:]))


def known(template: str, *operands: np.ndarray) -> Known:
    """What is known about an operation, given by its text, of operands."""
    operation = next(
        each for each in OPERATIONS if each.text == template and len(each.takes) == len(operands)
    )
    names = "xyz"[: len(operands)]
    leaves = tuple(Expression("f", name) for name in names)
    return Expression(operation.gives, template, operation, leaves).known(dict(zip(names, operands)))


def test_expressions_are_the_same_every_time_and_are_numpys() -> None:
    made = [expression(seed) for seed in range(200)]
    assert [each.text for each in made] == [expression(seed).text for seed in range(200)]
    with np.errstate(all="ignore"):
        results = load(source_of(made))["program"](**given(1))
    for each, result in zip(made, results, strict=True):
        assert each.known(given(1)).differs(np.asarray(result)) is None, each.text


def test_most_elements_are_judged_bit_for_bit() -> None:
    judged = [expression(seed).known(given(seed)) for seed in range(300)]
    elements = sum(each.array.size for each in judged)
    free = sum(int(each.free.sum()) for each in judged)
    exact = sum(int((~each.free & (each.error == 0)).sum()) for each in judged)
    assert free < 0.12 * elements
    assert exact > 0.7 * elements


def test_all_operations_occur() -> None:
    seen = {part.operation for seed in range(1500) for part in expression(seed).parts()}
    assert not [
        operation.text for operation in OPERATIONS if operation not in seen and operation.weight >= 0.5
    ]


X, Y = np.array([1.0, 2.0]), np.array([49.0, 7.0])


@pytest.mark.parametrize(
    ("template", "operands", "wrong"),
    [
        ("({} / {})", (X, Y), [1 / 49, np.nextafter(2 / 7, 1)]),
        ("({} - {})", (X, Y), [-48.0, np.nextafter(-5.0, 0)]),
        ("np.sqrt({})", (X,), [1.0, np.nan]),
        ("np.log({})", (X,), [0.0, np.inf]),
        ("np.exp({})", (X,), np.exp(X) * (1 + 1e-14)),
        ("np.max({})", (X,), np.nan),
        ("({} < {})", (X, Y), [True, False]),
        ("{}.astype(np.float32)", (X,), [1.0, 2.0]),
    ],
)
def test_wrong_results_are_noticed(template: str, operands: tuple[np.ndarray, ...], wrong: Any) -> None:
    told = known(template, *operands)
    assert told.differs(told.array) is None
    assert told.differs(np.asarray(wrong)) is not None


def test_signs_of_zeros_and_nan_count() -> None:
    told = known("({} + {})", np.array([0.0, np.nan]), np.array([0.0, 1.0]))
    assert told.differs(np.array([0.0, -np.nan])) is None
    assert told.differs(np.array([-0.0, np.nan])) is not None
    assert told.differs(np.array([0.0, 1.0])) is not None


def test_a_fused_product_is_allowed_and_no_more() -> None:
    x, y, z = (Expression("f", name) for name in "xyz")
    product, total = (next(each for each in OPERATIONS if each.text == f"({{}} {s} {{}})") for s in "*+")
    whole = Expression("f", "((x * y) + z)", total, (Expression("f", "(x * y)", product, (x, y)), z))
    values = {"x": np.array([1 + 2.0**-30]), "y": np.array([1 - 2.0**-30]), "z": np.array([-1.0])}
    told = whole.known(values)
    assert told.array[0] == 0
    assert told.differs(np.array([-(2.0**-60)])) is None
    assert told.differs(np.array([-(2.0**-50)])) is not None
