"""Random statements over live arrays, as text: they make views, read, and write in place."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tests.helpers.machine_keys import (
    Draw,
    Literals,
    Shape,
    any_key,
    basic_key,
    broadcastable,
    chance,
    flat_key,
    integer,
    literal,
    number,
    pick,
)

#: The live arrays of NumPy's side, by name.
Live = dict[str, np.ndarray]

_UPDATES = (
    "+=",
    "-=",
    "*=",
    "+=",
    "//= 2",
    "%= 3",
    "/= 2",
    "**= 2",
    "&= 3",
    "|= 1",
    "^= 1",
    "<<= 1",
    ">>= 1",
)
_UFUNCS = ("add", "add", "subtract", "multiply", "maximum", "minimum", "logical_or", "bitwise_xor")
_METHODS = ("set", "add", "multiply", "subtract")


def _axis(draw: Draw, rank: int) -> int:
    return integer(draw, -rank, rank - 1) if rank and not chance(draw, 3) else integer(draw, -1, rank)


def _axes(draw: Draw, rank: int) -> list[int]:
    remaining_axes = list(range(rank))
    return [remaining_axes.pop(integer(draw, 0, len(remaining_axes) - 1)) for _ in range(rank)]


def _another_shape(draw: Draw, shape: Shape) -> Shape:
    """Return a shape with the same number of elements, rarely another number."""
    size = int(np.prod(shape))
    if chance(draw, 3):
        return (size + 1,)
    made: list[int] = []
    remaining_size = size
    for _ in range(integer(draw, 0, 2)):
        factors = (
            [n for n in range(1, remaining_size + 1) if remaining_size % n == 0]
            if remaining_size
            else [0, 1, 2]
        )
        made.append(pick(draw, *factors))
        remaining_size = remaining_size // made[-1] if remaining_size else 0
    made.insert(integer(draw, 0, len(made)), remaining_size)
    if chance(draw, 40):
        made[integer(draw, 0, len(made) - 1)] = -1
    return tuple(made)


# -- views -----------------------------------------------------------------------------------------


def a_view(draw: Draw, live: Live, literals: Literals) -> str:
    """Return an expression that is a view in NumPy, or a copy if no view is possible."""
    name = pick(draw, *live)
    x, shape = name, live[name].shape
    rank = len(shape)
    form = integer(draw, 0, 23)
    if form < 8:
        return f"{x}[{basic_key(draw, shape, literals)}]"
    if form == 8:
        return f"{x}.{pick(draw, 'T', 'mT', 'real', 'imag', 'real', 'imag')}"
    if form == 9:
        return pick(draw, f"{x}.transpose({_axes(draw, rank)})", f"np.transpose({x})", f"{x}.transpose()")
    if form < 13:
        order = pick(draw, "", "", "", ", order='F'", ", order='A'")
        return f"{x}.reshape({_another_shape(draw, shape)}{order})"
    if form == 13:
        order = pick(draw, "", "", "'F'", "'A'", "'K'")
        return pick(
            draw, f"{x}.ravel({order})", f"{x}.flatten({order})", f"np.ravel({x})", f"{x}.ravel({order})"
        )
    if form == 14:
        return f"{x}.swapaxes({_axis(draw, rank)}, {_axis(draw, rank)})"
    if form == 15:
        return f"np.moveaxis({x}, {_axis(draw, rank)}, {_axis(draw, rank)})"
    if form == 16:
        return pick(draw, f"np.squeeze({x})", f"{x}.squeeze({_axis(draw, rank)})", f"{x}.squeeze()")
    if form < 19:
        offset, pair = integer(draw, -2, 2), f"{_axis(draw, rank)}, {_axis(draw, rank)}"
        return pick(draw, f"{x}.diagonal({offset})", f"np.diagonal({x}, {offset}, {pair})")
    return _rarer_view(draw, form, x, shape, live)


def _rarer_view(draw: Draw, form: int, x: str, shape: Shape, live: Live) -> str:
    rank = len(shape)
    if form == 19:
        wider = tuple(pick(draw, 2, 3) if n == 1 else n for n in shape)
        return f"np.broadcast_to({x}, {(*[pick(draw, 1, 2)] * chance(draw, 50), *wider)})"
    if form == 20:
        return pick(
            draw, f"np.flip({x})", f"np.flip({x}, {_axis(draw, rank)})", f"np.rot90({x})", f"np.flipud({x})"
        )
    if form == 21:
        return pick(
            draw,
            f"np.expand_dims({x}, {_axis(draw, rank)})",
            f"np.atleast_2d({x})",
            f"np.atleast_3d({x})",
            f"np.array_split({x}, 2, {_axis(draw, rank)})[1]",
            f"np.split({x}, [1], {_axis(draw, rank)})[0]",
            f"np.rollaxis({x}, {_axis(draw, rank)})",
            f"np.matrix_transpose({x})",
            f"np.unstack({x})[0]",
        )
    if form == 22:
        dtypes = ("float64", "int64", "complex128", "int32", "float32", "int8", "uint8")
        # A boolean that is neither 0 nor 1 is refused.
        return f"{x}.view()" if live[x].dtype == bool else f"{x}.view('{pick(draw, *dtypes)}')"
    return pick(
        draw,
        f"np.asarray({x})",
        f"np.ascontiguousarray({x})",
        f"{x}.base",
        f"np.array({x}, copy=None)",
        f"np.asanyarray({x})",
        f"{x}[...]",
        f"{x}.astype({x}.dtype, copy=False)",
        f"{x}.copy()",
        f"np.require({x}, requirements='C')",
    )


# -- reads -----------------------------------------------------------------------------------------


def a_read(draw: Draw, live: Live, literals: Literals) -> str:
    """Return an expression that reads, usually by a key of any form."""
    x = pick(draw, *live)
    array = live[x]
    form = integer(draw, 0, 19)
    if form < 13:
        return f"{x}[{any_key(draw, array.shape, x, literals)}]"
    if form == 13:
        return f"{x}.flat[{flat_key(draw, array.size, literals)}]"
    if form == 14:
        positions = _positions(draw, array.size, literals)
        return f"np.take({x}, {positions}, mode='{pick(draw, 'raise', 'wrap', 'clip')}')"
    if form == 15:
        place = integer(draw, -array.size, max(array.size - 1, 0))
        return pick(draw, f"{x}.item({place})", f"{x}.tolist()", f"{x}.item()", f"list({x}.flat)")
    if form == 16:
        return pick(
            draw, f"{x}.take([0, -1], {_axis(draw, array.ndim)})", f"np.compress([True, False], {x}, 0)"
        )
    if form == 17:
        return pick(
            draw, f"{x}.nonzero()", f"np.argwhere({x})", f"np.extract({x} > 0, {x})", f"np.where({x}, {x}, 0)"
        )
    if form == 18:
        return pick(
            draw, f"{x}.sum()", f"{x} + {pick(draw, *live)}", f"len({x})", f"{x}.max()", f"np.sort({x})"
        )
    return (
        f"[row for row in {x}]" if chance(draw, 30) else f"{x}[{basic_key(draw, array.shape, literals)}] * 2"
    )


def _positions(draw: Draw, size: int, literals: Literals) -> str:
    shape = pick(draw, (2,), (3,), (1,), (2, 2))
    values = [integer(draw, -size, max(size - 1, 0)) for _ in range(int(np.prod(shape)))]
    return literals.text(draw, np.array(values).reshape(shape))


# -- writes ----------------------------------------------------------------------------------------


def a_write(draw: Draw, live: Live, literals: Literals) -> str:
    """Return a statement that writes in place."""
    x = pick(draw, *live)
    array = live[x]
    form = integer(draw, 0, 29)
    if not array.flags.writeable and (15 <= form < 18 or form in (26, 27)):
        # NumPy's ufunc.at writes into read-only arrays; copyto and sort check the flag only sometimes.
        form = 0
    if form < 18:
        key = any_key(draw, array.shape, x, literals)
        shape = _shape_of(f"{x}[{key}]", live, literals, array.shape)
        if form < 10:
            return f"{x}[{key}] = {_value(draw, shape, array, live, literals)}"
        if form < 13:
            return f"{x}[{key}] {_updated(draw, shape, array, live, literals)}"
        if form < 15:
            value = _value(draw, shape, array, live, literals)
            return f"at({x})[{key}].{pick(draw, *_METHODS)}({value})"
        value = _value(draw, shape, array, live, literals)
        if len(_shape_of(value, live, literals, ())) > len(shape):
            value = "2"  # NumPy reads out of bounds, and may crash
        return f"np.{pick(draw, *_UFUNCS)}.at({x}, {_as_argument(key)}, {value})"
    if form < 21:
        return f"{x} {_updated(draw, array.shape, array, live, literals)}"
    if form < 25:
        return _flat_write(draw, x, array, live, literals)
    return _whole_write(draw, form, x, array, live, literals)


def _as_argument(key: str) -> str:
    """Return a key as the argument of a call, where slices and ellipses have no syntax."""
    return f"np.s_[{key}]"


def _shape_of(expression: str, live: Live, literals: Literals, otherwise: Shape) -> Shape:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.shape(eval(expression, {"np": np, **live, **literals.arrays}))
        except Exception:
            return otherwise


def _fits(array: np.ndarray, dtype: np.dtype[Any]) -> bool:
    """Return whether the elements have a value in `dtype` that C defines."""
    return dtype.kind in "fc" or array.dtype.kind in "biu" or (dtype.kind == "i" and array.dtype.kind == "f")


def _value(draw: Draw, shape: Shape, into: np.ndarray, live: Live, literals: Literals) -> str:
    form = integer(draw, 0, 9)
    if form < 4:
        return number(draw, into.dtype)
    if form < 7:
        return literal(draw, broadcastable(draw, shape), into.dtype, literals)
    fitting = [
        name
        for name, array in live.items()
        if _fits(array, into.dtype) and (array.ndim <= len(shape) or chance(draw, 5))
        if all(n in (1, m) for n, m in zip(array.shape[::-1], shape[::-1])) or chance(draw, 3)
    ]
    if not fitting:
        return literal(draw, shape, into.dtype, literals)
    name = pick(draw, *fitting)
    return pick(
        draw,
        name,
        name,
        f"{name} + 1" if live[name].dtype != bool else name,
        f"{name}[...]",
        f"{name}.copy()",
    )


def _updated(draw: Draw, shape: Shape, into: np.ndarray, live: Live, literals: Literals) -> str:
    update = pick(draw, *_UPDATES)
    return update if " " in update else f"{update} {_value(draw, shape, into, live, literals)}"


def _flat_write(draw: Draw, x: str, array: np.ndarray, live: Live, literals: Literals) -> str:
    key = flat_key(draw, array.size, literals)
    shape = _shape_of(f"{x}.flat[{key}]", live, literals, ())
    value = number(draw, array.dtype) if chance(draw, 40) else literal(draw, shape, array.dtype, literals)
    form = integer(draw, 0, 5)
    if form < 3:
        return f"{x}.flat[{key}] = {value}"
    if form == 3:
        return f"{x}.flat = {value}"
    places = _positions(draw, array.size, literals)
    mode = pick(draw, "", "", ", mode='wrap'", ", mode='clip'")
    return f"{pick(draw, f'{x}.put(', f'np.put({x}, ')}{places}, {value}{mode})"


def _whole_write(draw: Draw, form: int, x: str, array: np.ndarray, live: Live, literals: Literals) -> str:
    rank, value = array.ndim, _value(draw, array.shape, array, live, literals)
    if form == 25:
        return pick(
            draw, f"{x}.fill({number(draw, array.dtype)})", f"{x}.real = {value}", f"{x}.imag = {value}"
        )
    if form == 26:
        return pick(
            draw, f"{x}.sort()", f"{x}.sort({_axis(draw, rank)})", f"{x}.sort(axis={_axis(draw, rank)})"
        )
    if form == 27:
        where = pick(draw, "", "", f", where={x} > 0", ", where=True")
        return f"np.copyto({x}, {value}{where})"
    if form == 28:
        return pick(
            draw,
            f"np.putmask({x}, {x} > 0, {value})",
            f"np.place({x}, {x} > 0, [1, 2, 3])",
            f"np.fill_diagonal({x}, {number(draw, array.dtype)})",
            f"{x}.shape = {_another_shape(draw, array.shape)}",
            f"np.put_along_axis({x}, np.zeros({(1,) * rank}, int), "
            f"{number(draw, array.dtype)}, {_axis(draw, rank)})",
        )
    source, out = pick(draw, *live), pick(draw, x, f"{x}[...]", f"{x}[::-1]", f"{x}.T", f"{x}.T")
    # Sums of floats are rounded in another order, which would change their bits.
    exact = array.dtype.kind in "bi"
    summed = f"np.cumsum({x}, {_axis(draw, rank)}, out={out})" if rank and exact else f"np.negative({x}, {x})"
    return pick(
        draw,
        f"np.add({x}, {value}, out={out})",
        f"np.negative({source}, out={out})",
        f"np.subtract({x}, {x}, {out})",
        f"np.multiply({x}, 2, out={out}, where={x} < 5)",
        summed,
        f"np.clip({x}, 0, 3, out={out})",
        f"np.maximum({x}, {source}, out={out})",
        f"np.sum({x}, 0, out={x}[0])" if exact else summed,
        f"np.add({x}, {source}, out=({out},), casting='unsafe')",
    )
