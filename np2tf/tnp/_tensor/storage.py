"""Cells: the mutable storage behind tensor-resident arrays, and the record of who writes to it.

A `Cell` holds one immutable base tensor; writing replaces it. Every array that shares memory in NumPy's
sense shares a cell. While a graph is built, each loop body, branch and trace is a `Region`; a region notes
the cells born outside of it that are written inside of it, which is what makes them loop state or branch
results.
"""

from __future__ import annotations

import operator
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from np2tf.lazy import tf
from np2tf.staging import StagingError
from np2tf.tnp._front.fast_flags import count_regions
from np2tf.tnp._front.operand_kinds import surroundings
from np2tf.tnp._tensor.foreign_graphs import Foreign, tell

#: Deeper than this, staged branches and loops come of calls that do not end while staging.
MOST_NESTED = 32


#: Held while a part of a base is replaced, which reads the whole and writes the whole: threads may write to
#: parts of one array at the same time, as they may in NumPy.
writing = threading.RLock()


class Region:
    """A stretch of staged code.

    Attributes:
        trace: what all regions of one staged function share.
        written: cells born outside and written inside, with the value they had before.
        read: cells born outside and read inside.
        poisoned: cells whose contents became unknown inside.
        counter: the number of the iteration, in the body of a staged loop.
        numbers: the staged numbers made in the body of that loop.
    """

    __slots__ = ("counter", "numbers", "poisoned", "read", "trace", "written")

    def __init__(self, trace: Any, counter: tf.Tensor | None = None) -> None:
        self.trace = trace
        outer: Region | None = current_region()
        self.counter: tf.Tensor | None = outer.counter if counter is None and outer is not None else counter
        self.numbers: list[weakref.ref[Any]] = outer.numbers if counter is None and outer is not None else []
        self.written: dict[Cell, tf.Tensor] = {}
        self.read: set[Cell] = set()
        self.poisoned: list[Cell] = []

    def undo(self) -> None:
        """Give the cells written in here the values they had on entering."""
        for cell, before in self.written.items():
            cell.rebase(before)
        for cell in self.poisoned:
            cell.poisoned = False


class _Stack(threading.local):
    def __init__(self) -> None:
        self.regions: list[Region] = []


_stack = _Stack()


def staging_for_xla() -> bool:
    """Whether the code staged just now is going to be compiled by XLA."""
    return bool(_stack.regions) and _stack.regions[-1].trace.xla


def staging_at_once() -> bool:
    """Whether the code staged just now stands for all iterations of a loop at once."""
    return bool(_stack.regions) and _stack.regions[-1].trace.at_once


def staging_handlers() -> bool:
    """Whether the code staged just now handles exceptions, so that none that NumPy raises may be missed."""
    return bool(_stack.regions) and _stack.regions[-1].trace.handles


def _refuse_open_shape(value: tf.Tensor | None) -> None:
    """Where exceptions are handled, refuse what might raise one that a graph misses.

    Raises:
        StagingError: the shape of an array depends on data.
    """
    if value is None or not value.shape.is_fully_defined():
        message = "exceptions are handled, and an array whose shape depends on data may raise one unseen"
        raise StagingError(message, "NP2TF533")


def current_region() -> Region | None:
    """The innermost region being staged, or None when running eagerly (or in somebody else's graph)."""
    return _stack.regions[-1] if _stack.regions else None


class Representative:
    """The base of what stands for an array on the host while a function that reads it by name is traced."""

    __slots__ = ()

    def staged(self) -> Any:
        """The array of the trace that this thread is at; the array on the host where it is at none."""
        raise NotImplementedError


def represents_staged(value: Any) -> bool:
    """Whether `value` stands for an array of the trace that this thread is at."""
    return issubclass(type(value), Representative) and bool(_stack.regions)


def resolved(value: Any) -> Any:
    """`value` with arrays in the place of what stands for them, also in tuples, lists, dicts and slices."""
    kind = type(value)
    if kind is tuple or kind is list:
        items = kind(map(resolved, value))
        return value if all(map(operator.is_, items, value)) else items
    if kind is dict:
        entries = {key: resolved(item) for key, item in value.items()}
        return value if all(map(operator.is_, entries.values(), value.values())) else entries
    if kind is slice:
        return slice(resolved(value.start), resolved(value.stop), resolved(value.step))
    return value.staged() if issubclass(kind, Representative) else value


@contextmanager
def region(trace: Any, counter: tf.Tensor | None = None) -> Iterator[Region]:
    """Stage the body of the with block as a region of its own."""
    if len(_stack.regions) >= MOST_NESTED:
        raise StagingError("branches and loops are staged too deep within one another", "NP2TF523")
    if trace is not None:
        trace.check_deadline()
    entered = Region(trace, counter)
    _stack.regions.append(entered)
    count_regions(1)
    try:
        yield entered
    finally:
        count_regions(-1)
        _stack.regions.pop()


@dataclass(frozen=True)
class Gapped:
    """The layout of memory of somebody else's, in which there are gaps, or which is gone through backwards.

    Attributes:
        strides: of each axis, in elements; of all arrays with the same views and copies the same ones.
    """

    strides: tuple[int, ...]


class Cell:
    """One base tensor that arrays and their views read from and write to."""

    __slots__ = (
        "__weakref__",
        "_value",
        "argument",
        "birth",
        "distinct",
        "foreign",
        "identity",
        "may_alias",
        "order",
        "owner",
        "owner_path",
        "poisoned",
    )

    def __init__(self, value: tf.Tensor) -> None:
        self._value = value
        self.birth = current_region()
        if self.birth is not None and self.birth.trace.handles:
            _refuse_open_shape(value)
        #: The array that owns this memory, once somebody may ask for it: the `base` of all views.
        self.owner: weakref.ref[Any] | None = None
        #: How that array sees the memory, where not as it is: the lenses of its path.
        self.owner_path: tuple[Any, ...] = ()
        #: The axes from the slowest to the fastest, as NumPy's memory would have them; None for C order. A
        #: tensor has no other: this is what decides which reshapes are views.
        self.order: tuple[int, ...] | Gapped | None = None
        self.may_alias: tuple[Cell, ...] = ()
        self.poisoned = False
        #: Whether this is an input of the trace, to be written back to the caller.
        self.argument = False
        #: Cells with the same mark are certainly different memory, whatever else they may be the same as.
        self.distinct: object = None
        #: Where this is known at run time only: a number, and the cells of which it is the number-th (-1:
        #: none).
        self.identity: tuple[tf.Tensor, tuple[Cell, ...]] | None = None
        #: What somebody else's graph has made of this, if one has met it.
        self.foreign: Foreign | None = None

    @property
    def value(self) -> tf.Tensor:
        """The base tensor as it is now.

        Raises:
            StagingError: the contents are not known, because an array that may or may not share this
                memory has been written to.
        """
        if self.poisoned:
            raise StagingError(
                "an array is read that a staged loop or branch may have written under another name"
            )
        regions = _stack.regions
        if not regions and surroundings.graphs is not None and surroundings.graphs.stack:
            return self._in_foreign_graph()
        for entered in reversed(regions):
            if entered is self.birth:
                break
            entered.read.add(self)
        return self._value

    def _in_foreign_graph(self) -> tf.Tensor:
        """The base tensor as a graph that is not of our making sees it."""
        if not hasattr(self._value, "numpy") or tf.executing_eagerly():
            return self._value
        graph = tf.compat.v1.get_default_graph()
        if self.foreign is None or self.foreign.graph() is not graph:
            self.foreign = Foreign(graph, self._value)
        return self.foreign.value

    def write(self, value: tf.Tensor) -> None:
        """Replace the base tensor; enclosing regions learn that this cell has changed."""
        if self.foreign is not None and not _stack.regions and self._is_foreign(value):
            return
        self._replace(value)
        through = self._write_through(value)
        for other in aliases(self):
            if other not in through and not self.is_distinct_from(other):
                other.poison()

    def _is_foreign(self, value: tf.Tensor) -> bool:
        """Whether the write is one of somebody else's graph, of which only that graph can know."""
        foreign, self.foreign = self.foreign, None
        if foreign is None or foreign.graph() is None or not hasattr(self._value, "numpy"):
            return False
        if hasattr(value, "numpy"):
            tell("NP2TF538")
            return False
        tell("NP2TF537")
        foreign.value = value
        self.foreign = foreign
        return True

    def is_distinct_from(self, other: Cell) -> bool:
        """Whether the two are certainly different memory, whatever else they may be the same as."""
        return self.distinct is not None and other.distinct is self.distinct

    def _replace(self, value: tf.Tensor) -> None:
        for entered in reversed(_stack.regions):
            if entered is self.birth:
                break
            entered.written.setdefault(self, self._value)
        self._value = value

    def _write_through(self, value: tf.Tensor) -> list[Cell]:
        """Write to the argument that this may turn out to be; returns those that are up to date."""
        if self.identity is None:
            return []
        number, originals = self.identity
        through = []
        for n, cell in enumerate(originals):
            if cell.argument and not cell.poisoned and _alike(cell._value, value):
                cell._replace(tf.where(tf.equal(number, n), value, cell._value))
                through.append(cell)
        return through

    def poison(self) -> None:
        """Make the contents unknown: reading them from here on is an error that ends the staging."""
        if not self.poisoned:
            self.poisoned = True
            for entered in reversed(_stack.regions):
                if entered is self.birth:
                    break
                entered.poisoned.append(self)

    def rebase(self, value: tf.Tensor) -> None:
        """Replace the base tensor without this counting as a write (entering and leaving a region)."""
        self._value = value


def is_from_outside(cell: Cell) -> bool:
    """Whether the code staged just now is a loop or branch, and the memory older than that."""
    return len(_stack.regions) > 1 and cell.birth is not _stack.regions[-1]


def aliases(cell: Cell) -> list[Cell]:
    """The other cells that may be the same memory as `cell`, directly or by way of a third."""
    return reached(cell.may_alias, without=cell)


def reached(cells: Iterable[Cell], without: Cell) -> list[Cell]:
    """These cells and what may be the same memory for another reason than that `without` may be."""
    found: list[Cell] = []
    pending = list(cells)
    while pending:
        other = pending.pop()
        if other is not without and other not in found:
            found.append(other)
            pending += other.may_alias
    return found


def _alike(a: tf.Tensor, b: tf.Tensor) -> bool:
    return a.dtype == b.dtype and a.shape.is_fully_defined() and a.shape == b.shape


def is_outside(cell: Cell) -> bool:
    """Whether a cell was there before the innermost region was entered."""
    return cell.birth is None or any(cell.birth is one for one in _stack.regions[:-1])


def is_known(cell: Cell) -> bool:
    """Whether a cell was born in a region that is still open, or before all of them."""
    return cell.birth is None or any(cell.birth is one for one in _stack.regions)


def link_aliases(merged: Cell, sources: Iterable[Cell]) -> None:
    """Declare that `merged` may be the same memory as one of `sources`: a write to one hides the others."""
    distinct = tuple(cell for cell in sources if cell is not merged)
    merged.may_alias += distinct
    for cell in distinct:
        cell.may_alias += (merged,)
