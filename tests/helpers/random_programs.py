"""Random NumPy programs as text, made statement by statement; NumPy has accepted each statement.

A program is grown with real arguments: every statement is filled in from the tables below, run by NumPy, and
kept if it works. The present values of the arrays determine which operands, keys and axes fit the next
statement.

A float is exact as long as only operations without rounding have made it, else rough. Only exact values
decide (are compared, rounded, indices, searched): no branch and no mask depends on a last bit.
"""

from __future__ import annotations

import itertools
import random
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

# The templates of the programs. ---------------------------------------------------------------------------
# A word in braces is a hole (`HOLES`): the first hole names the subject, which the later holes must fit.

#: Exact if the operands are.
EXACT = (
    "{x} + {y}", "{x} - {y}", "{x} * {y}", "-{x}", "{x} * 2", "{x} / 2", "{x} + {n}", "{n} - {x}", "{i} ** 2",
    "np.abs({x})", "np.add({x}, {y})", "np.maximum({r}, {y})", "np.minimum({r}, {n})", "np.square({f})",
    "np.clip({r}, -2, 3)", "np.where({mask}, {x}, {y})", "np.where({mask}, {x}, {n})", "np.conj({x})",
    "{c}.real", "{c}.imag", "{x}.sum()", "{x}.sum(axis={axis})", "np.sum({x}, axis={axis}, keepdims=True)",
    "{r}.max()", "{r}.min(axis={axis})", "np.max({r}, axis={axis})", "np.cumsum({x})",
    "np.cumsum({x}, axis={axis})", "np.diff({x})", "np.diff({x}, axis={axis})", "np.ptp({r})", "np.sort({r})",
    "np.sort({r}, axis={axis})", "np.add.reduce({x})", "np.multiply.outer({x1}, {x1})",
    "np.add.accumulate({x1})", "np.outer({x1}, {x1})", "np.maximum.accumulate({r}, axis={axis})",
    "{x}[{key}]", "{x}[{key}] * 2", "{x}[{basic}].copy()", "{x}.copy()", "np.flip({x})",
    "np.flip({x}, axis={axis})", "np.roll({x}, {k})", "np.roll({x}, {k}, axis={axis})", "np.tile({x}, 2)",
    "np.repeat({x}, 2)", "np.repeat({x}, {k}, axis={axis})", "{x}.flatten()", "{x}.tolist()",
    "np.concatenate([{x}, {same}])", "np.concatenate(({x}, {same}), axis={axis})", "np.stack([{x}, {same}])",
    "np.stack([{x}, {same}], axis=-1)", "np.vstack([{x}, {same}])", "np.hstack(({x}, {same}))",
    "np.append({x}, {y})", "np.column_stack(({x1}, {x1}))", "np.pad({x1}, 1)", "np.pad({x}, 1, mode='edge')",
    "np.delete({x1}, 0)", "np.insert({x1}, 1, 2)", "np.take({x}, [0, -1], axis={axis})", "np.take({x}, {k})",
    "np.compress([True, False], {x}, axis={axis})", "np.diag({x1})", "np.diag({x2})", "np.trace({x2})",
    "np.tril({x2})", "np.triu({x2}, 1)", "np.eye({k})", "np.identity({k})", "{x2} @ {x2}.T", "{x2}.dot({x1})",
    "np.dot({x1}, {x1})", "np.einsum('ij->ji', {x2})", "np.einsum('ij,kj->ik', {x2}, {x2})",
    "np.inner({x}, {x})", "np.tensordot({x2}, {x2}.T, axes=1)", "np.kron({x1}, {x1})", "np.zeros({k})",
    "np.ones(({k}, {k}), dtype={dtype})", "np.full(({k}, 2), {n})", "np.full_like({x}, 3)",
    "np.zeros_like({x})", "np.ones_like({x}, dtype={dtype})", "np.empty((0, {k}))", "np.arange({k})",
    "np.arange({k}, dtype={dtype})", "np.arange({k}, -1, -1)", "np.linspace(0, {k}, 2 * {k} + 1)",
    "np.array([{n}, {n}, 1])", "np.array([[1, 2], [3, {k}]], dtype={dtype})", "np.asarray({x})",
    "np.array({x})", "np.fromiter(range({k}), dtype=float)", "np.broadcast_to({x1}, (2, {x1}.size))",
    "np.bincount(np.abs({i1}))", "np.interp({k}, [0, 4], [0, 8])", "np.trapezoid({f1})",
    "np.convolve({x1}, [1, 2])", "np.meshgrid({x1}, {x1})[0]", "np.indices({x}.shape).sum(axis=0)",
    "np.gradient({f1})", "np.float32({n})", "{x}.astype(complex)", "{r}.astype(np.float64)", "{r} * 1j",
    "np.atleast_2d({x})", "np.vander({i1}, 2)", "np.nan_to_num({f})", "np.cross({x1}[:3], [1, 2, 3])",
    "np.real({x})", "np.ravel({x})[::2]", "{b} ^ {b}", "~{b}", "np.logaddexp.identity or {x}",
    "{x}.item({k0})", "float({x}[{element}].real)", "{x}[{element}]", "{x}.size", "len({x})", "{x}.shape[0]",
    "{x}.ndim + {n}", "sum({x1})", "max({r1})", "[v * 2 for v in {x1}]", "np.array([v + {n} for v in {x1}])",
    "np.array([{x1}[k] for k in range(len({x1}))])", "{x} if {test} else {same}", "{n} if {test} else {n}",
    "np.choose([0, 1], [{i1}[:2], {i1}[:2]])", "np.select([{mask}], [{x}], 1)", "np.block([[{x2}, {x2}]])",
    "np.array_split({x1}, 2)[1]", "np.hsplit({x1}[:2], 2)[0]",
)  # fmt: skip

#: Views, or expressions that may be views.
VIEWS = (
    "{x}[{basic}]", "{x}[{basic}]", "{x}.T", "{x}.reshape({shape})", "np.reshape({x}, {shape})",
    "{x}.ravel()", "np.transpose({x})", "np.swapaxes({x}, 0, -1)", "{x}[::-1]", "{x}[..., ::2]",
    "np.expand_dims({x}, {axis})", "np.squeeze({x})", "{x}[None]", "{x}[..., None]",
    "np.moveaxis({x}, 0, -1)", "np.diagonal({x2})", "{c}.real", "{x}.reshape(-1)", "np.atleast_1d({x})",
    "np.asarray({x})", "np.broadcast_to({x}, (2,) + {x}.shape)", "np.split({x1}, [1])[1]", "{x}.view()",
    "np.rollaxis({x}, {axis})", "np.flipud({x})", "np.rot90({x2})",
)  # fmt: skip

#: Expressions that round.
ROUGH = (
    "np.sqrt(np.abs({f}))", "np.sin({f})", "np.cos({f}) * {y}", "np.exp(-np.abs({f}))",
    "np.log1p(np.abs({f}))", "np.tanh({f})", "np.arctan2({f}, 2.5)", "{x} / 3", "{x} / (np.abs({y}) + 1)",
    "{x}.mean()", "{x}.mean(axis={axis})", "{f}.std()", "np.var({x}, axis={axis})", "np.hypot({f}, {f})",
    "np.linalg.norm({x})", "np.linalg.norm({f1})", "np.linalg.det({sq} + 9 * np.eye(len({sq})))",
    "np.linalg.inv({sq} + 20 * np.eye(len({sq})))",
    "np.linalg.solve({sq} + 20 * np.eye(len({sq})), {x1}[:len({sq})])", "np.median({r})", "np.average({f})",
    "np.percentile({r}, 30)", "np.fft.fft({x1}).real", "np.prod({f1})", "np.linspace(0, 1, {k})",
    "np.corrcoef({f1}, {f1})", "np.cumprod({f1})", "np.cov({f1})", "np.linalg.eigvalsh({sq} + {sq}.T)",
    "np.array([{x}.mean(), 2.5])", "np.sum([v / 3 for v in {x1}])", "np.log(np.abs({f}) + 1.5)",
    "1 / (np.abs({f}) + 2)", "np.polyval([1, 0.3], {f})",
)  # fmt: skip

#: Expressions whose result depends on an exact value.
DECIDES = (
    "{x} == {y}", "{r} > {y}", "{r} <= {n}", "{x} != {n}", "np.logical_and({x}, {y})", "np.isclose({x}, {y})",
    "np.argmax({r})", "np.argmin({r}, axis={axis})", "np.argsort({r1}, kind='stable')", "np.nonzero({x})[0]",
    "np.count_nonzero({x})", "np.unique({r})", "np.searchsorted(np.sort({r1}), {n})", "np.isin({r}, [1, 2])",
    "{x}.any()", "{x}.all(axis={axis})", "{r}.astype(int)", "{x}.astype(bool)", "np.floor({f})",
    "np.round({f})", "np.sign({r})", "{r} // 2", "{r} % 3", "np.argwhere({x})", "np.flatnonzero({r} > 0)",
    "np.array_equal({x}, {y})", "{x}[{x} != 0]", "{r}[{r} > 0]", "np.where({r} > {n})[0]",
    "np.extract({r} > 0, {r})", "np.digitize({r1}, [0, 2])", "np.intersect1d({r1}, {r1})",
    "np.lexsort(({r1},))", "np.histogram({r}, bins=[-9, 0, 9])[0]", "int({n})",
    "np.rint({f}).astype(np.int32)", "np.setdiff1d({r1}, [1, 2])", "np.isfinite({x}).sum()", "bool({n})",
    "{n} > {n}", "np.partition({r1}, 1)[1]", "np.trim_zeros({x1})", "{n} in {x1}", "np.divmod({r}, 2)[1]",
    "({r} > 0) & ({r} < 3)",
)  # fmt: skip

#: The memory layouts of an argument besides C order: also as a part of a larger array.
LAYOUTS = (
    "np.asfortranarray({})", "np.repeat({}, 2, axis=-1)[..., ::2]", "np.repeat({}, 3, axis=0)[1::3]",
    "np.flip(np.flip({}).copy())", "np.flip(np.flip({}, 0).copy(), 0)",
    "np.repeat(np.asfortranarray({}), 2, axis=0)[::2]", "np.swapaxes(np.swapaxes({}, 0, -1).copy(), 0, -1)",
)  # fmt: skip

#: Tests of an `if`.
TESTS = (
    "{r}.sum() > {odd}", "np.max({r}) < {odd}", "{rn} > {odd}", "{rn} < {odd}", "{x}.shape[0] > 2",
    "len({x}) == {k}", "np.any({r} > {odd})", "({r} > {odd}).all()", "{x}.ndim == 2", "{odd} < {rn} < {odd}",
    "not {rn} > {odd}", "{rn} > {odd} and {rn} < {odd}", "{rn} > {odd} or {r}.min() > {odd}", "{x}.size",
    "{r}[{element}] > {odd}", "np.isfinite({x}).all()", "abs({rn}) > {odd}", "{x}.dtype == np.float64",
    "True",
)  # fmt: skip
#: Tests of exact values.
EXACT_TESTS = (
    "{r}[{element}] > {r}[{element}]", "{rn} == {k0}", "{x}.any()", "np.array_equal({x}, {same})",
    "{in} % 2 == 0", "{rn} >= {rn}", "{x}[{element}] == {n}", "{in} & 1", "{n}",
    "np.count_nonzero({x}) > {k}",
)  # fmt: skip

#: Statements that write in place.
WRITES = (
    "{x}[{key}] = {value}", "{x}[{key}] = {value}", "{x}[{key}] += {value}", "{x}[{key}] *= {n}",
    "{x}[{key}] -= {value}", "{x}[{basic}][{sub}] = {n}", "{x} += {y}", "{x} *= {n}", "{x} -= {y}",
    "{x}[...] = {y}", "{x}[:] = {y}[::-1]", "{x}[1:] += {x}[:-1]", "{x}[::-1] = {x}", "{x}.fill({n})",
    "{r}.sort()", "{x}[{mask}] = {n}", "{x}[{mask}] += {n}", "np.add.at({x1}, [0, 0, 1], {n})",
    "np.copyto({x}, {y})", "np.put({x}, [0, -1], {n})", "np.fill_diagonal({x2}, {n})",
    "np.add({x}, {y}, out={x})", "np.multiply({x}, {n}, out={x})", "np.clip({r}, -3, 3, out={r})",
    "{b} |= {b}", "{x}.flat[{k0}] = {n}", "{x}.T[{k0}] = {n}", "{x}[{key}], {x}[{key}] = {n}, {n}",
    "np.place({x}, {mask}, [1, 2])", "np.putmask({x}, {mask}, {n})", "{x}[0], {x}[-1] = {x}[-1], {x}[0]",
    "{x}.reshape(-1)[{k0}] += {n}", "{x}.ravel()[{k0}] = {n}", "{i} //= 2", "{i} %= 3",
    "{x}[{key}][...] = {n}", "{f} /= 2",
)  # fmt: skip

#: Assignments to several names: names, expression.
UNPACKED = (
    ("{new}, {new2}", "{x}, {same}"), ("{new}, {new2}", "{x}.shape[0], {n}"),
    ("{new}, {new2}", "np.divmod({i}, 2)"), ("{new}, {new2}", "np.split({x1}, [1])"),
    ("{new}, *{new2}", "[{x}, {same}, {x}]"), ("{new}, {new2}", "{x2}[:2]"),
    ("{new}, {new2}", "np.unique({i}, return_counts=True)"), ("{new}, {new2}", "{x}.min(), {x}.max()"),
    ("{new}, {new2}", "np.where({mask}, {x}, 0), {y}"), ("{new}, {new2}", "np.meshgrid({x1}, {x1})"),
    ("{new}, {new2}", "np.modf({i})"), ("({new}, {new2}), _", "({x}, {n}), {n}"),
    ("{new} = {new2}", "{x}.copy()"), ("{new}, {new2}", "np.array_split({x}, 2)"),
    ("{new}, {new2}", "({x}[{basic}], {x})"),
)  # fmt: skip

DTYPES = (
    "np.float64",
    "np.float32",
    "np.int64",
    "np.int32",
    "bool",
    "complex",
    "float",
    "int",
    "np.uint8",
    "np.int8",
)
SIZES = (2, 3, 4)


# The arrays of the programs. ------------------------------------------------------------------------------


def is_array(value: Any) -> bool:
    """Return whether a value is an array of bools or numbers."""
    return isinstance(value, np.ndarray) and value.dtype.kind in "biufc"


def is_number(value: Any) -> bool:
    """Return whether a value is a number, of Python or of NumPy."""
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_))


def leaves(value: Any) -> Iterator[Any]:
    """Yield the arrays and numbers in a value."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif is_array(value) or is_number(value):
        yield value


def is_moderate(value: Any) -> bool:
    """Return whether all numbers are finite and of a size at which nothing overflows or cancels."""
    held = [np.abs(np.asarray(x).astype(complex)) for x in leaves(value)]
    return all(x.size < 200 and bool(np.all(x < 1e4)) for x in held)


def fits_exactly(value: Any) -> bool:
    """Return whether sums and products of a few such numbers are exact in any order."""
    for part in (np.asarray(x) for x in leaves(value)):
        if part.dtype.kind in "fc":
            bits = 4 if part.dtype.itemsize <= (4 if part.dtype.kind == "f" else 8) else 10
            for half in (part.real, part.imag):
                if np.any(np.abs(half) > 2.0**bits * 8) or np.any(half * 2.0**bits % 1):
                    return False
    return True


class Copies:
    """Copies of values, which share memory with each other as the values do."""

    def __init__(self) -> None:
        self.made: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """Return the copy of a value."""
        if isinstance(value, (list, tuple)):
            if id(value) not in self.made:
                copy = type(value)(map(self.of, value))
                self.made[id(value)] = copy
            return self.made[id(value)]
        return self._array(value) if isinstance(value, np.ndarray) else value

    def _array(self, array: np.ndarray) -> np.ndarray:
        if id(array) not in self.made:
            if isinstance(array.base, np.ndarray):
                root = owner(array)
                copy = self._array(root)
                offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
                if array.size:
                    memory = copy.reshape(-1, order="A").view(np.uint8)
                    made = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
                else:
                    made = array.copy()
            else:
                made = array.copy(order="K")
            made.flags.writeable = array.flags.writeable
            self.made[id(array)] = made
        return self.made[id(array)]


def owner(array: np.ndarray) -> np.ndarray:
    """Return the array whose memory a view shows."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


# Making a program. ----------------------------------------------------------------------------------------


class NoSuch(Exception):
    """Raised if nothing fits a hole."""


@dataclass
class Scope:
    """The function that is being written: the present values of its names, and the rough names among them."""

    space: dict[str, Any]
    rough: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)
    loops: int = 0


@dataclass
class Program:
    """A source text with a function ``program``, the texts of its calls' arguments, and its exact results."""

    source: str
    calls: tuple[str, ...]
    exact: frozenset[str]


class Maker:
    """Writes one program.

    Args:
        seed: the seed of the random choices.
    """

    def __init__(self, seed: int) -> None:
        self.chance, self.layouts = random.Random(seed), random.Random(-seed - 1)
        self.helpers: list[tuple[str, list[Any], bool]] = []
        self.helper_lines: list[str] = []
        self.fresh = itertools.count()
        self.scope = Scope({"np": np})
        self.budget = self.chance.randint(5, 30)

    # Holes: a text that fits the subject.

    def names(self, fits: Callable[[Any], bool]) -> list[str]:
        """Return the names whose values fit."""
        return [name for name, value in self.scope.space.items() if name != "np" and fits(value)]

    def one(self, fits: Callable[[Any], bool]) -> str:
        """Return one of the names whose values fit, preferably a late name."""
        found = self.names(fits)
        if not found:
            raise NoSuch
        return self.chance.choice(found[-4:] if self.chance.random() < 0.5 else found)

    def value(self, text: str) -> Any:
        """Return the present value of an expression."""
        return eval(text, self.scope.space)

    def array(self, fits: Callable[[np.ndarray], bool], bare: bool = False) -> str:
        """Return the text of an array that fits: a name, or an expression of names."""
        if not bare and self.chance.random() < 0.12:
            text = self.filled(self.chance.choice(EXACT), depth=1)
            value = self.value(text)
            if is_array(value) and fits(value):
                return f"({text})"
        return self.one(lambda value: is_array(value) and fits(value))

    def operand(self, subject: np.ndarray) -> str:
        """Return an operand that fits the subject."""
        draw = self.chance.random()
        if draw < 0.25:
            return self.number()
        if draw < 0.7:
            return self.same(subject)
        return self.one(lambda value: is_array(value) and _goes_with(value, subject))

    def same(self, subject: np.ndarray) -> str:
        """Return an array of the subject's shape."""
        return self.one(lambda value: is_array(value) and value.shape == subject.shape)

    def number(self, real: bool = False) -> str:
        """Return a number: a name, an element, or a literal."""
        if self.chance.random() < 0.5:
            return self.chance.choice(("2", "1", "0", "-1", "3", "0.5", "-1.5", "2.0"))
        return self.one(lambda value: is_number(value) and not (real and np.iscomplexobj(value)))

    def axis(self, subject: np.ndarray) -> str:
        """Return an axis of the subject."""
        if not subject.ndim:
            raise NoSuch
        return str(self.chance.randrange(-subject.ndim, subject.ndim))

    def element(self, subject: np.ndarray) -> str:
        """Return the index of one element."""
        if not subject.size:
            raise NoSuch
        return ", ".join(self.index(n) for n in subject.shape) or "()"

    def index(self, length: int) -> str:
        """One index below a length."""
        if not length:
            raise NoSuch
        named = self.names(
            lambda v: isinstance(v, (int, np.integer)) and not isinstance(v, bool) and -length <= v < length
        )
        if named and self.chance.random() < 0.4:
            return self.chance.choice(named)
        return str(self.chance.randrange(-length, length))

    def slice(self) -> str:
        """Return a slice."""
        return self.chance.choice(
            (":", "1:", ":-1", "::2", "::-1", ":2", "1::2", "-2:", "2:0:-1", "0:0", "-1::-2")
        )

    def basic(self, subject: np.ndarray) -> str:
        """Return a key that makes a view."""
        parts = [
            self.index(n) if self.chance.random() < 0.3 else self.slice()
            for n in subject.shape[: self.chance.randint(1, max(1, subject.ndim))]
        ]
        if self.chance.random() < 0.2:
            parts.insert(self.chance.randint(0, len(parts)), "None")
        if self.chance.random() < 0.15:
            parts.insert(0, "...") if len(parts) < subject.ndim else parts.append("...")
        return ", ".join(parts) or "..."

    def key(self, subject: np.ndarray) -> str:
        """Any key."""
        if not subject.ndim or self.chance.random() < 0.45:
            return self.basic(subject)
        if self.chance.random() < 0.2:
            return self.mask(subject)
        if self.chance.random() < 0.15 and subject.ndim == 2:
            return f"np.ix_({self.indices(subject.shape[0])}, {self.indices(subject.shape[1])})"
        parts = [
            self.indices(n)
            if self.chance.random() < 0.6
            else self.chance.choice((self.slice(), self.index(n)))
            for n in subject.shape[: self.chance.randint(1, subject.ndim)]
        ]
        if self.chance.random() < 0.1:
            parts.insert(self.chance.randint(0, len(parts)), "None")
        return ", ".join(parts)

    def indices(self, length: int) -> str:
        """Return an array of indices, or a mask, of an axis."""

        def fits(value: Any) -> bool:
            if not is_array(value) or value.ndim > 2:
                return False
            if value.dtype.kind == "b":
                return value.shape == (length,)
            return value.dtype.kind in "iu" and bool(np.all((value >= -length) & (value < length)))

        if self.chance.random() < 0.5 and self.names(fits):
            return self.one(fits)
        drawn = (
            [self.chance.randrange(-length, length) for _ in range(self.chance.randint(1, 3))]
            if length
            else []
        )
        return self.chance.choice((f"{drawn}", f"np.array({drawn}, dtype=int)"))

    def mask(self, subject: np.ndarray) -> str:
        """Return a mask of the subject's shape."""
        if self.chance.random() < 0.3:
            named = self.names(lambda v: is_array(v) and v.dtype == bool and v.shape == subject.shape)
            if named:
                return self.chance.choice(named)
        name = self.one(lambda v: is_array(v) and v.shape == subject.shape and v.dtype.kind != "c")
        return f"{name} {self.chance.choice(('>', '<'))} {self.odd()}"

    def odd(self) -> str:
        """Return a number that no value is close to."""
        return f"{self.chance.randint(-3, 5)}.37"

    def shape(self, subject: np.ndarray) -> str:
        """Return another shape with the same number of elements."""
        size = subject.size
        found = [(size,), (-1,), (1, size), (size, 1), (-1, 1)]
        found += [(k, size // k) for k in (2, 3) if size and size % k == 0]
        found += [(2, -1, 2)] if size and size % 4 == 0 else []
        return str(self.chance.choice(found))

    def stored(self, subject: np.ndarray, key: str) -> str:
        """Return a value to assign to subject[key]."""
        if self.chance.random() < 0.4:
            return self.number()
        shape = np.shape(eval(f"_x[{key}]", {**self.scope.space, "_x": subject}))
        return self.one(lambda value: is_array(value) and _goes_with(value, np.empty(shape), into=True))

    def filled(self, template: str, depth: int = 0) -> str:
        """Return a template with its holes filled."""
        subject: Any = None
        key = ""

        def fill(match: re.Match[str]) -> str:
            nonlocal subject, key
            word = match[1]
            if word in KINDS:
                text = self.array(KINDS[word], bare=depth > 0 or template in WRITES)
                subject = self.value(text) if subject is None else subject
                return text
            if word in ("key", "basic"):
                key = getattr(self, word)(subject)
                return key
            if word == "value":
                return self.stored(subject, key)
            return HOLES[word](self, subject)

        return re.sub(r"\{(\w+)\}", fill, template)

    # Running the programs.

    def run(self, lines: list[str]) -> bool:
        """Run statements. If NumPy refuses them, or their results, undo them."""
        before = self.saved()
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                exec("\n".join(lines), self.scope.space)
            if all(is_moderate(v) for k, v in self.scope.space.items() if k != "np"):
                return True
        except Exception:
            pass
        self.restore(before)
        return False

    def saved(self) -> tuple[dict[str, Any], set[str]]:
        """Return the present values of the names, for `restore`."""
        copies = Copies()
        return {k: copies.of(v) for k, v in self.scope.space.items()}, set(self.scope.rough)

    def restore(self, saved: tuple[dict[str, Any], set[str]]) -> None:
        """Restore the values of the names."""
        self.scope.space.clear()
        self.scope.space.update(saved[0])
        self.scope.rough = set(saved[1])

    def is_rough(self, text: str) -> bool:
        """Return whether an expression reads a rough value."""
        return any(name in self.scope.rough for name in re.findall(r"\b[a-z]\w*", text))

    def note(self, names: list[str], rough: bool) -> bool:
        """Record a write. In a loop, values that were exact at its beginning must stay exact."""
        space = self.scope.space
        touched = {n for n in names if n in space}
        for name in names:
            held = [x for x in leaves(space.get(name)) if is_array(x)]
            touched |= {
                n
                for n, v in space.items()
                for x in leaves(v)
                for h in held
                if is_array(x) and np.shares_memory(x, h)
            }
        becoming = {n for n in touched if rough or not fits_exactly(space[n])}
        if self.scope.loops and any(n in self.scope.fixed and n not in self.scope.rough for n in becoming):
            return False
        self.scope.rough -= set(names) - becoming if not self.scope.loops else set()
        self.scope.rough |= becoming
        return True

    def new(self) -> str:
        """Return a free name."""
        return f"v{next(self.fresh)}"

    def target(self) -> str:
        """Return a new or an old name to bind."""
        locals_ = [n for n in self.scope.space if n[0] in "vs"]
        if locals_ and self.chance.random() < (0.6 if self.scope.loops else 0.25):
            return self.chance.choice(locals_)
        return self.new()

    # Statements.

    def expression(self, tables: tuple[tuple[str, ...], ...]) -> tuple[str, bool]:
        """Return an expression of a table, and whether it is rough."""
        table = self.chance.choice(tables)
        text = self.filled(self.chance.choice(table))
        if table is DECIDES and self.is_rough(text):
            raise NoSuch
        return text, table is ROUGH or self.is_rough(text)

    def test(self) -> str:
        """Return a test for a branch."""
        table = self.chance.choice((TESTS, TESTS, EXACT_TESTS))
        text = self.filled(self.chance.choice(table))
        if table is EXACT_TESTS and self.is_rough(text):
            raise NoSuch
        bool(self.value(text))
        return text

    def bind(self, tables: tuple[tuple[str, ...], ...]) -> list[str]:
        """Bind a name to an expression."""
        text, rough = self.expression(tables)
        name = self.target()
        return self.kept([f"{name} = {text}"], [name], rough)

    def kept(self, lines: list[str], names: list[str], rough: bool) -> list[str]:
        """Return the lines, if they work."""
        before = self.saved()
        if not self.run(lines):
            raise NoSuch
        if not self.note(names, rough):
            self.restore(before)
            raise NoSuch
        return lines

    def write(self) -> list[str]:
        """Write in place."""
        text = self.filled(self.chance.choice(WRITES))
        # The written array is named after `out=`, or first.
        names = re.findall(r"out=(\w+)", text) or re.findall(r"\b[avps]\d+\b", text)
        written = [n for n in names if n in self.scope.space]
        if any(is_array(v) and not v.flags.writeable for v in map(self.scope.space.get, written[:1])):
            raise NoSuch  # some versions of NumPy write to it nevertheless, with `ufunc.at`
        return self.kept([text], written[:1], self.is_rough(text))

    def alias(self) -> list[str]:
        """Another name for an array, or a view of it, and perhaps a write through it."""
        name = self.new()
        text = self.array(lambda _: True, bare=True)
        if self.chance.random() < 0.7:
            text = self.filled(self.chance.choice(VIEWS))
        lines = self.kept([f"{name} = {text}"], [name], self.is_rough(text))
        if self.chance.random() < 0.6 and is_array(self.scope.space[name]):
            key = self.basic(self.scope.space[name])
            line = f"{name}[{key}] {self.chance.choice(('=', '+=', '*='))} {self.number()}"
            with suppress(NoSuch):
                lines = lines + self.kept([line], [name], self.is_rough(line))
        return lines

    def unpack(self) -> list[str]:
        """Bind several names."""
        names, expression = self.chance.choice(UNPACKED)
        new, new2 = self.target(), self.new()
        text = self.filled(expression)
        if "unique" in text and self.is_rough(text):
            raise NoSuch
        names = names.replace("{new}", new).replace("{new2}", new2)
        return self.kept([f"{names} = {text}"], [new, new2], self.is_rough(text))

    def swap(self) -> list[str]:
        """Exchange two names."""
        name = self.one(is_array)
        other_name = self.same(self.scope.space[name])
        return self.kept(
            [f"{name}, {other_name} = {other_name}, {name}"],
            [name, other_name],
            self.is_rough(f"{name} {other_name}"),
        )

    def augment(self) -> list[str]:
        """Count or sum up in a number."""
        name = self.one(lambda v: is_number(v) and not isinstance(v, (bool, np.bool_)))
        if name[0] in "kw":
            raise NoSuch
        text = self.filled(self.chance.choice(("{n}", "1", "{x}.sum()", "{r}.max()", "{x}[{element}]")))
        line = f"{name} {self.chance.choice(('+=', '-='))} {text}"
        return self.kept([line], [name], self.is_rough(line))

    def collect(self) -> list[str]:
        """Write a loop that fills a list, and an expression of the list."""
        name, result = self.new(), self.new()
        subject = self.array(lambda x: x.ndim > 0, bare=True)
        item = self.chance.choice(
            (f"{subject}[k]", f"{subject}[k] * 2", "k + 1", f"{subject} + k", f"{subject}.sum() - k")
        )
        header = f"for k in range({self.chance.choice((f'len({subject})', '2', f'{subject}.shape[0]'))}):"
        made = self.chance.choice(
            ("np.array({0})", "np.stack({0})", "len({0})", "np.concatenate({0})", "{0}[-1]", "sum({0})")
        )
        lines = [f"{name} = []", header, f"    {name}.append({item})", f"{result} = {made.format(name)}"]
        return self.kept(lines, [name, result], self.is_rough(subject))

    def block(self, depth: int, count: int, loop: bool) -> list[str]:
        """Return the indented statements of a block, and undo their effects."""
        lines = [line for _ in range(count) for line in self.statement(depth, loop)]
        return ["    " + line for line in lines or ["pass"]]

    @contextmanager
    def looping(self) -> Iterator[None]:
        """Within the with block, write the body of a loop, whose statements run repeatedly."""
        fixed = self.scope.fixed
        self.scope.loops += 1
        self.scope.fixed = set(self.scope.space)
        yield
        self.scope.loops -= 1
        self.scope.fixed = fixed

    def branch(self, depth: int, loop: bool) -> list[str]:
        """Write if, elif, else."""
        before = self.saved()
        lines = []
        for header in [
            "if",
            *["elif"] * self.chance.choice((0, 0, 1)),
            *["else"] * self.chance.choice((0, 1)),
        ]:
            self.restore(before)
            before = self.saved()
            head = "else:" if header == "else" else f"{header} {self.test()}:"
            lines += [head, *self.block(depth - 1, self.chance.randint(1, 3), loop)]
            rough = self.scope.rough
            self.restore(before)
            before = self.saved()[0], before[1] | (rough & set(before[0]))
        self.restore(before)
        return self.whole(lines)

    def whole(self, lines: list[str]) -> list[str]:
        """Return a compound statement, if it works as a whole."""
        known = set(self.scope.space)
        if not self.run(lines):
            raise NoSuch
        for name in set(self.scope.space):
            if name != "np" and (
                not fits_exactly(self.scope.space[name]) or (name not in known and "/" in "".join(lines))
            ):
                self.scope.rough.add(name)
        self.scope.rough |= {n for n in set(self.scope.space) - known if n in self.becoming(lines)}
        return lines

    def becoming(self, lines: list[str]) -> set[str]:
        """Return the names that rough values or rough operations may reach."""
        rough = set(self.scope.rough)
        pattern = re.compile(
            "|".join(sorted({re.escape(w) for t in ROUGH for w in re.findall(r"np\.[\w.]+|\.mean|\.std", t)}))
        )
        while True:
            more = set()
            for line in lines:
                names = set(re.findall(r"\b[avpskw]\d*\b", line))
                if names & rough or pattern.search(line) or "helper" in line:
                    more |= {n for n in names if n in self.scope.space}
            if more <= rough:
                return rough
            rough |= more

    def loop(self, depth: int) -> list[str]:
        """Write a for over a range, an array, or several arrays; perhaps with break, continue and else."""
        k = f"k{next(self.fresh)}"
        array = self.array(lambda x: 0 < x.ndim < 3 and 0 < len(x) < 6, bare=True)
        length = len(self.scope.space[array])
        header, first = self.chance.choice((
            (f"for {k} in range({self.chance.randint(1, 4)}):", {k: "0"}),
            (f"for {k} in range(len({array})):", {k: "0"}),
            (f"for {k} in range({length} - 1, 0, -1):", {k: "1"}),
            (f"for {k} in range(1, {array}.shape[0]):", {k: "1"}),
            (f"for s{k} in {array}:", {f"s{k}": f"{array}[0]"}),
            (f"for {k}, s{k} in enumerate({array}):", {k: "0", f"s{k}": f"{array}[0]"}),
            (f"for s{k}, {k} in zip({array}, range(9)):", {k: "0", f"s{k}": f"{array}[0]"}),
            (f"for s{k} in reversed({array}):", {f"s{k}": f"{array}[-1]"}),
        ))  # fmt: skip
        before = self.saved()
        for name, text in first.items():
            self.kept([f"{name} = {text}"], [name], self.is_rough(text))
        with self.looping():
            body = self.block(depth - 1, self.chance.randint(1, 3), True)
        rough = self.scope.rough & set(before[0])
        self.restore((before[0], before[1] | rough))
        lines = [header, *body]
        if self.chance.random() < 0.1:
            lines += ["else:", f"    {self.target()} = {self.number()}"]
        return self.whole(lines)

    def bounded(self, depth: int) -> list[str]:
        """Write a while with a counter."""
        w = f"w{next(self.fresh)}"
        before = self.saved()
        self.kept([f"{w} = 0"], [w], False)
        test = self.test() if self.chance.random() < 0.5 else ""
        with self.looping():
            body = self.block(depth - 1, self.chance.randint(1, 3), True)
        rough = self.scope.rough & set(before[0])
        self.restore((before[0], before[1] | rough))
        limit = self.chance.randint(1, 4)
        if self.chance.random() < 0.3:
            lines = [
                f"{w} = 0",
                "while True:",
                f"    {w} += 1",
                f"    if {w} > {limit}:",
                "        break",
                *body,
            ]
        else:
            lines = [
                f"{w} = 0",
                f"while {w} < {limit}{f' and ({test})' if test else ''}:",
                f"    {w} += 1",
                *body,
            ]
        return self.whole(lines)

    def leave(self) -> list[str]:
        """Write break or continue, under a test."""
        test = self.test()
        return [f"if {test}:", f"    {self.chance.choice(('break', 'continue'))}"]

    def refuse(self) -> list[str]:
        """Write raise, under a test that is false now."""
        test = self.test()
        if self.value(test):
            raise NoSuch
        return [
            f"if {test}:",
            f"    raise {self.chance.choice(('ValueError', 'RuntimeError', 'IndexError'))}('{test[:4]}')",
        ]

    def call(self) -> list[str]:
        """Call a helper: an existing helper, or a helper that is written for these operands."""
        if self.scope.loops or "p0" in self.scope.space:
            raise NoSuch
        names = [self.one(lambda v: is_array(v) or is_number(v)) for _ in range(self.chance.randint(1, 3))]
        helper, rough = self.helper(names) if not self.helpers or self.chance.random() < 0.6 else self.known()
        if self.helpers and helper is not self.helpers[-1][0]:
            names = []
            for given in next(given for name, given, _ in self.helpers if name == helper):
                kind = np.asarray(given)
                names.append(
                    self.one(
                        lambda v, kind=kind: np.shape(v) == kind.shape and np.asarray(v).dtype == kind.dtype
                    )
                )
        name = self.target()
        line = f"{name} = {helper}({', '.join(names)})"
        if rough:
            return self.kept([line], [name, *names], True)
        return self.kept([line], [name], True)

    def known(self) -> tuple[str, bool]:
        """Return an existing helper."""
        name, _, rough = self.chance.choice(self.helpers)
        return name, rough

    def helper(self, names: list[str]) -> tuple[str, bool]:
        """Write a helper function for operands."""
        outer = self.scope
        copies = Copies()
        given = [copies.of(outer.space[n]) for n in names]
        parameters = [f"p{k}" for k in range(len(names))]
        space = {"np": np, **dict(zip(parameters, given))}
        self.scope = Scope(space, {p for p, n in zip(parameters, names) if n in outer.rough})
        kept = Copies()
        originals = [kept.of(v) for v in given]
        try:
            lines = []
            for _ in range(self.chance.randint(1, 4)):
                lines += self.statement(1, False)
                if self.chance.random() < 0.25:
                    lines += [f"if {self.test()}:", f"    return {self.one(is_array)}"]
            lines.append(f"return {self.one(lambda v: is_array(v) or is_number(v))}")
            rough = bool(self.scope.rough)
        finally:
            self.scope = outer
        name = f"helper{len(self.helpers)}"
        text = [f"def {name}({', '.join(parameters)}):", *["    " + line for line in lines], "", ""]
        exec("\n".join(text), self.scope.space)
        self.helper_lines += text
        self.helpers.append((name, originals, rough))
        return name, rough

    def statement(self, depth: int, loop: bool) -> list[str]:
        """Return one statement that works at this point, or none if none was found."""
        kinds = [k for k in STATEMENTS if (depth or not k.deep) and (loop or not k.in_loop)]
        for _ in range(12):
            kind = self.chance.choices(kinds, [k.weight for k in kinds])[0]
            before = self.saved()
            loops, fixed = self.scope.loops, self.scope.fixed
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    return kind.write(self, depth, loop)
            except Exception:  # any error of NumPy for a candidate
                self.restore(before)
                self.scope.loops, self.scope.fixed = loops, fixed
        return []

    def argument(self, sizes: tuple[int, ...]) -> tuple[str, str]:
        """Return an argument as two texts with different numbers."""
        if self.chance.random() < 0.15:
            return self.chance.choice(
                (("3", "2"), ("0.5", "-1.5"), ("np.float64(2.5)", "np.float64(-0.5)"), ("True", "False"))
            )
        rank = self.chance.choice((0, 1, 1, 1, 2, 2, 2, 3))
        shape = tuple(self.chance.choice(sizes) for _ in range(rank))
        if rank and self.chance.random() < 0.04:
            shape = (0, *shape[1:])
        dtype = self.chance.choice(
            ("float", "float", "float", "int", "int", "np.float32", "np.int32", "bool", "complex")
        )
        made = []
        for _ in range(2):
            size = int(np.prod(shape))
            numbers = [self.chance.randint(-6, 8) / (1 if "int" in dtype else 2) for _ in range(size)]
            if dtype == "bool":
                numbers = [int(x > 0) for x in numbers]
            made.append(
                f"np.array({[int(x) if x == int(x) else x for x in numbers]}, dtype={dtype}).reshape({shape})"
            )
        layout = self.layouts.choice(LAYOUTS) if rank and self.layouts.random() < 0.3 else "{}"
        return layout.format(made[0]), layout.format(made[1])

    def program(self) -> Program:
        """Return the whole program."""
        sizes = tuple(self.chance.sample(SIZES, 2))
        arguments = [self.argument(sizes) for _ in range(self.chance.randint(2, 4))]
        parameters = [f"a{k}" for k in range(len(arguments))]
        self.scope.space.update({p: self.value(text) for p, (text, _) in zip(parameters, arguments)})
        lines: list[str] = []
        while len(lines) < self.budget:
            lines += self.statement(2, False) or ["pass"]
        shown = self.names(lambda v: any(True for _ in leaves(v)) or isinstance(v, (list, tuple)))
        returned = ", ".join(f"'{n}': {n}" for n in shown)
        body = ["    " + line for line in [*lines, f"return {{{returned}}}"]]
        head = ["import numpy as np", "", "", *self.helper_lines, f"def program({', '.join(parameters)}):"]
        calls = tuple(", ".join(texts[k] for texts in arguments) for k in range(2))
        return Program("\n".join([*head, *body]) + "\n", calls, frozenset(shown) - self.scope.rough)


def _goes_with(value: np.ndarray, subject: np.ndarray, into: bool = False) -> bool:
    """Return whether shapes broadcast; for `into`, to the subject's own shape."""
    try:
        shape = np.broadcast_shapes(value.shape, subject.shape)
    except ValueError:
        return False
    return not into or shape == subject.shape


#: kind of array -> the function that tells whether an array is of this kind
KINDS: dict[str, Callable[[np.ndarray], bool]] = {
    "x": lambda x: True,
    "f": lambda x: x.dtype.kind == "f",
    "i": lambda x: x.dtype.kind == "i",
    "b": lambda x: x.dtype.kind == "b",
    "c": lambda x: x.dtype.kind == "c",
    "r": lambda x: x.dtype.kind != "c",
    "x1": lambda x: x.ndim == 1 and x.size > 1,
    "f1": lambda x: x.ndim == 1 and x.size > 1 and x.dtype.kind == "f",
    "i1": lambda x: x.ndim == 1 and x.size > 1 and x.dtype.kind == "i",
    "r1": lambda x: x.ndim == 1 and x.size > 1 and x.dtype.kind != "c",
    "x2": lambda x: x.ndim == 2,
    "sq": lambda x: x.ndim == 2 and x.shape[0] == x.shape[1] > 0 and x.dtype.kind != "b",
}
#: hole -> a text for it, given the subject
HOLES: dict[str, Callable[[Maker, Any], str]] = {
    "y": lambda maker, subject: maker.operand(subject),
    "same": lambda maker, subject: maker.same(subject),
    "n": lambda maker, subject: maker.number(),
    "rn": lambda maker, subject: maker.one(lambda v: is_number(v) and not np.iscomplexobj(v)),
    "in": lambda maker, subject: maker.one(
        lambda v: isinstance(v, (int, np.integer)) and not isinstance(v, bool)
    ),
    "axis": lambda maker, subject: maker.axis(subject),
    "element": lambda maker, subject: maker.element(subject),
    "mask": lambda maker, subject: maker.mask(subject),
    "shape": lambda maker, subject: maker.shape(subject),
    "odd": lambda maker, subject: maker.odd(),
    "test": lambda maker, subject: maker.test(),
    "sub": lambda maker, subject: maker.slice(),
    "k": lambda maker, subject: str(maker.chance.choice(SIZES)),
    "k0": lambda maker, subject: str(maker.chance.choice((0, 1, -1))),
    "dtype": lambda maker, subject: maker.chance.choice(DTYPES),
}


@dataclass(frozen=True)
class Kind:
    """A kind of statement.

    Attributes:
        weight: how often it is tried.
        write: makes a statement, given the maker, the allowed depth of blocks, and whether it is in a loop.
        deep: whether it holds blocks.
        in_loop: whether it belongs only in loops.
    """

    weight: float
    write: Callable[[Maker, int, bool], list[str]]
    deep: bool = False
    in_loop: bool = False


STATEMENTS = (
    Kind(6, lambda maker, depth, loop: maker.bind((EXACT, EXACT, EXACT, ROUGH, DECIDES))),
    Kind(5, lambda maker, depth, loop: maker.write()),
    Kind(3, lambda maker, depth, loop: maker.alias()),
    Kind(1, lambda maker, depth, loop: maker.unpack()),
    Kind(0.5, lambda maker, depth, loop: maker.swap()),
    Kind(1, lambda maker, depth, loop: maker.augment()),
    Kind(0.5, lambda maker, depth, loop: maker.collect()),
    Kind(0.8, lambda maker, depth, loop: maker.call()),
    Kind(0.3, lambda maker, depth, loop: maker.refuse()),
    Kind(2, lambda maker, depth, loop: maker.branch(depth, loop), deep=True),
    Kind(2, lambda maker, depth, loop: maker.loop(depth), deep=True),
    Kind(1, lambda maker, depth, loop: maker.bounded(depth), deep=True),
    Kind(2, lambda maker, depth, loop: maker.leave(), in_loop=True),
)


def program(seed: int) -> Program:
    """Return the program of a seed."""
    return Maker(seed).program()
