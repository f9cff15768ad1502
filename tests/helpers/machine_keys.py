"""Random index keys and values, as the text of a program: every form that NumPy accepts, and a few that it
refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

#: Draws from a strategy.
Draw = Callable[[st.SearchStrategy[Any]], Any]
Shape = tuple[int, ...]


class Literals:
    """Arrays for a program: an index array may be written out, or be an argument (known only at run time)."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def text(self, draw: Draw, array: np.ndarray) -> str:
        """Return the array as an expression."""
        if chance(draw, 40):
            name = f"k{len(self.arrays)}"
            self.arrays[name] = array
            return name
        written = f"np.array({array.tolist()}, dtype='{array.dtype}')"
        return written if array.size or array.ndim == 1 else f"np.zeros({array.shape}, '{array.dtype}')"


def chance(draw: Draw, percent: int) -> bool:
    """Return True in the given percentage of draws; the simplest draw is False."""
    return integer(draw, 0, 99) >= 100 - percent


def integer(draw: Draw, low: int, high: int) -> int:
    """Return an integer from `low` to `high`, both included."""
    return int(draw(st.integers(low, max(low, high))))


def pick(draw: Draw, *options: Any) -> Any:
    """Return one of the options."""
    return options[integer(draw, 0, len(options) - 1)]


# -- keys ------------------------------------------------------------------------------------------


def _place(draw: Draw, length: int) -> int:
    """Return a position on an axis, rarely a position out of bounds."""
    if length == 0 or chance(draw, 3):
        return integer(draw, -length - 2, length + 1)
    return integer(draw, -length, length - 1)


def _end(draw: Draw, length: int, literals: Literals) -> str:
    form = integer(draw, 0, 9)
    if form < 4:
        return ""
    place = integer(draw, -length - 2, length + 2)
    return f"{literals.text(draw, np.array([place, 1]))}[0]" if form == 9 else str(place)


def a_slice(draw: Draw, length: int, literals: Literals) -> str:
    """Return a slice of any step."""
    start, stop = _end(draw, length, literals), _end(draw, length, literals)
    steps = ("", "", "", ":-1", ":2", ":-2", ":3", ":1", ":-3") if "[" not in start + stop else ("",)
    return f"{start}:{stop}{pick(draw, *steps)}"


def _index_array(draw: Draw, length: int, shape: Shape, literals: Literals) -> str:
    """Return an integer array of `shape` for an axis of `length`, in one of the forms that a program may give
    it.
    """
    size = int(np.prod(shape))
    values = np.array([_place(draw, length) for _ in range(size)], np.int64).reshape(shape)
    form = integer(draw, 0, 9)
    if form < 4 and len(shape) == 1:
        return repr(values.tolist())
    if form == 4 and shape == (2,):
        return repr(tuple(values.tolist()))
    return literals.text(draw, values.astype(pick(draw, "int64", "int64", "int32", "int8")))


def _one_axis(draw: Draw, length: int, shape: Shape, advanced: bool, literals: Literals) -> str:
    form = integer(draw, 0, 11 if advanced else 5)
    if form < 3:
        return a_slice(draw, length, literals)
    if form < 6:
        place = _place(draw, length)
        kinds = (f"{place}", f"{place}", f"{place}", f"np.int64({place})", f"np.array({place})")
        return pick(draw, *kinds, f"{literals.text(draw, np.array([place, 0]))}[0]")
    if form < 10:
        return _index_array(draw, length, shape, literals)
    mask = np.array([chance(draw, 50) for _ in range(length if not chance(draw, 3) else length + 1)], bool)
    return repr(mask.tolist()) if chance(draw, 30) and mask.size else literals.text(draw, mask)


def basic_key(draw: Draw, shape: Shape, literals: Literals) -> str:
    """Integers, slices, Ellipsis and newaxis."""
    return _key(draw, shape, advanced=False, literals=literals)


def any_key(draw: Draw, shape: Shape, name: str, literals: Literals) -> str:
    """Return a key of any form for the array `name`."""
    form = integer(draw, 0, 19)
    if form == 19:
        return _odd_key(draw)
    if form >= 16 and shape:
        return _mask_key(draw, shape, name, literals)
    return _key(draw, shape, advanced=form >= 5, literals=literals)


def flat_key(draw: Draw, size: int, literals: Literals) -> str:
    """Return a key that an iterator over all elements accepts, or refuses."""
    form = integer(draw, 0, 9)
    if form < 3:
        return str(_place(draw, size))
    if form < 6:
        return a_slice(draw, size, literals)
    if form == 9:
        return pick(draw, "...", "()", "[]", "'a'", "None", "1.5", "0, 1", "(0,)", "[0.5]")
    return _one_axis(draw, size, pick(draw, (2,), (3,), (1,)), True, literals)


def _mask_key(draw: Draw, shape: Shape, name: str, literals: Literals) -> str:
    """Return a boolean array over some adjacent axes, perhaps with further keys behind it."""
    if chance(draw, 50):
        return f"{name} {pick(draw, '>', '<', '!=', '==')} {integer(draw, -1, 3)}"
    first = integer(draw, 0, len(shape) - 1)
    last = integer(draw, first + 1, len(shape))
    cut = shape[first:last]
    mask = np.array([chance(draw, 50) for _ in range(int(np.prod(cut)))], bool).reshape(cut)
    before = [a_slice(draw, n, literals) for n in shape[:first]]
    after = [_one_axis(draw, n, (1,), False, literals) for n in shape[last:]] if chance(draw, 40) else []
    return ", ".join([*before, literals.text(draw, mask), *after])


def _odd_key(draw: Draw) -> str:
    """Return a key that programs rarely use, or that NumPy refuses."""
    return pick(
        draw,
        "()",
        "...",
        "True",
        "False",
        "[]",
        "None",
        "'a'",
        "1.5",
        "[0.5]",
        "0, ..., ...",
        "[[]]",
        "np.array(True)",
        "..., None",
        "None, None",
        "[True]",
        "slice(None)",
        "(slice(None), None)",
        "[[0], [1, 2]]",
        "np.array([0], 'uint8')",
        "0, 0, 0, 0, 0",
        "(0,)",
        "[None]",
        "slice(1, 'a')",
        "True, 0",
        "np.array([1.0])",
    )


def _key(draw: Draw, shape: Shape, advanced: bool, literals: Literals) -> str:
    common = pick(draw, (2,), (1,), (3,), (2, 1), (2, 2), (0,), (1, 2)) if advanced else ()
    used = integer(draw, 0, len(shape))
    items = [
        _one_axis(draw, n, common if chance(draw, 75) else common[-1:], advanced, literals)
        for n in shape[:used]
    ]
    if used and chance(draw, 25):
        # Behind an ellipsis the key indexes the last axes instead of the first.
        items = ["...", *(_one_axis(draw, n, common, advanced, literals) for n in shape[len(shape) - used :])]
    elif chance(draw, 10):
        items.append("...")
    for _ in range(pick(draw, 0, 0, 0, 0, 1, 2)):
        items.insert(integer(draw, 0, len(items)), "None")
    return ", ".join(items) + ("," if len(items) == 1 and chance(draw, 10) else "") if items else "..."


# -- values ----------------------------------------------------------------------------------------


def number(draw: Draw, dtype: np.dtype[Any]) -> str:
    """Return a number that suits an array of `dtype`, or rarely does not."""
    value = integer(draw, -3, 5)
    options = [f"{value}", f"np.int64({value})", "True", "np.int8(2)"]
    if dtype.kind in "fc" or chance(draw, 5):
        options += [f"{value / 2}", f"np.float64({value / 2})", "np.float32(1.5)", f"np.array({value / 2})"]
    if dtype.kind == "c" or chance(draw, 2):
        options += [f"{value}j", f"np.complex128({value}+1j)"]
    if chance(draw, 3):
        options += ["300", "-1", "2**40"]
    return pick(draw, *options)


def broadcastable(draw: Draw, shape: Shape) -> Shape:
    """Return a shape that broadcasts to `shape`, or rarely does not."""
    wanted = [
        1 if chance(draw, 20) else n for n in shape[integer(draw, 0, len(shape)) if chance(draw, 30) else 0 :]
    ]
    if chance(draw, 8):
        wanted.insert(0, 1)
    if chance(draw, 4):
        wanted.append(2)
    return tuple(wanted)


def literal(draw: Draw, shape: Shape, dtype: np.dtype[Any], literals: Literals) -> str:
    """Return an array or a nested list of `shape` whose elements suit `dtype`."""
    size = int(np.prod(shape))
    start, step = integer(draw, -3, 3), integer(draw, 1, 3)
    values = (np.arange(size) * step + start).reshape(shape) % 11 - 4
    if chance(draw, 25) and size and values.ndim:
        return repr(values.tolist())
    kinds = {
        "b": ("bool",),
        "i": ("int64", "int32", "int8"),
        "u": ("uint8",),
        "f": ("float64", "float32", "int64"),
    }
    kind = pick(draw, *kinds.get(dtype.kind, ("complex128", "float64", "complex64")))
    return literals.text(draw, values.astype(kind) if kind != "uint8" else np.abs(values).astype(kind))
