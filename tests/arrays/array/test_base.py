"""`ndarray.base` is the array that owns the memory, laid out as NumPy's."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf import tnp

VIEWS = {
    "itself": lambda x: x,
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[:, ::-1],
    "rows": lambda x: x[1:],
    "every second": lambda x: x.T[::2],
}
SHAPES = ((-1,), (1, -1), (-1, 1, 1), (3, -1))


def described(x: Any, view: Any, shape: tuple[int, ...], order: str) -> Any:
    """The base of a view that is reshaped, before and after a write to the result."""
    try:
        made = view(x).reshape(shape, order=order)
    except ValueError as error:
        return type(error)
    base = made.base
    if base is None:
        return None
    told = [base.shape, base.strides, base is x, base.base is None, made[0].base is base, made.T.base is base]
    told.append(base.reshape(-1, order="A").tolist())
    made[...] = made + 1
    return [*told, base.tolist(), x.tolist()]


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_of_a_reshaped_view(view: Any) -> None:
    """A reshape that copies is a view of a copy, which has the shape that the array had."""
    with np2tf.config.using(eager="tensorflow"):
        for shape, order in itertools.product(SHAPES, "CFA"):
            array = np.arange(12.0).reshape(3, 4).copy()
            found = described(tnp.array(array), view, shape, order)
            assert found == described(array, view, shape, order), (shape, order)
