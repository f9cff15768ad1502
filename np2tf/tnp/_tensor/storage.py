"""Cells: the mutable storage behind arrays on TensorFlow, and the record of who writes to it.

A `Cell` holds one immutable base tensor; a write replaces the tensor. All arrays that share memory in
NumPy's sense share a cell. While a graph is built, each trace, loop body and branch is a `Region`. A region
records the cells that were born outside of it and are written inside of it; these become loop state or
branch results.
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

#: Staged branches and loops that are nested more deeply come from calls that do not end while staging.
MOST_NESTED = 32


#: A lock for replacing a part of a base, which reads and writes the whole base: as in NumPy, threads may
#: write to parts of one array at the same time.
writing = threading.RLock()


class Region:
    """A stretch of staged code with its own body: a trace, a loop body, or one side of a branch.

    Attributes:
        trace: the trace of the staged function, which all its regions share.
        written: the cells born outside and written inside, with their values before the first write.
        read: the cells born outside and read inside.
        poisoned: the cells whose contents became unknown inside.
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
        """Restore the values that the cells written in this region had before."""
        for cell, before in self.written.items():
            cell.rebase(before)
        for cell in self.poisoned:
            cell.poisoned = False


class _Stack(threading.local):
    def __init__(self) -> None:
        self.regions: list[Region] = []


_stack = _Stack()


def staging_for_xla() -> bool:
    """Return whether XLA will compile the code that this thread is staging."""
    return bool(_stack.regions) and _stack.regions[-1].trace.xla


def staging_at_once() -> bool:
    """Return whether the code that this thread is staging computes all iterations of a loop at once."""
    return bool(_stack.regions) and _stack.regions[-1].trace.at_once


def staging_handlers() -> bool:
    """Return whether the code that this thread is staging handles exceptions, so that no exception may be
    missed.
    """
    return bool(_stack.regions) and _stack.regions[-1].trace.handles


def _refuse_open_shape(value: tf.Tensor | None) -> None:
    """Refuse an array of data-dependent shape in code that handles exceptions: a graph could miss its
    exception.

    Raises:
        StagingError: the shape of the array depends on data.
    """
    if value is None or not value.shape.is_fully_defined():
        message = "exceptions are handled, and an array whose shape depends on data may raise one unseen"
        raise StagingError(message, "NP2TF533")


def current_region() -> Region | None:
    """Return the innermost region being staged; None in eager code and in foreign graphs."""
    return _stack.regions[-1] if _stack.regions else None


class Representative:
    """The base class of stand-ins for arrays on the host that a function being traced reads by name."""

    __slots__ = ()

    def staged(self) -> Any:
        """Return the array of this thread's trace, or the array on the host if this thread traces nothing."""
        raise NotImplementedError


def represents_staged(value: Any) -> bool:
    """Return whether `value` is a stand-in for an array of this thread's trace."""
    return issubclass(type(value), Representative) and bool(_stack.regions)


def resolved(value: Any) -> Any:
    """Return `value` with every stand-in replaced by its array, also in tuples, lists, dicts and slices."""
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
    """Stage the body of the `with` block as a region.

    Args:
        trace: the trace of the staged function.
        counter: the number of the iteration, if the region is a loop body.

    Raises:
        StagingError: the regions are nested too deeply.
    """
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
    """The layout of foreign memory that has gaps or runs backwards.

    Attributes:
        strides: the stride of each axis, in elements. Layouts whose arrays have the same views and copies
            have the same strides.
    """

    strides: tuple[int, ...]


class Cell:
    """The storage of one base tensor, which an array and its views read and write."""

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
        #: The array that owns this memory, the `base` of all views, from the first view on.
        self.owner: weakref.ref[Any] | None = None
        #: The path of lenses through which the owner sees the memory; empty if it sees the memory unchanged.
        self.owner_path: tuple[Any, ...] = ()
        #: The axes from the slowest to the fastest, as NumPy's memory would have them; None for C order. A
        #: tensor is always in C order: this order decides which reshapes are views.
        self.order: tuple[int, ...] | Gapped | None = None
        self.may_alias: tuple[Cell, ...] = ()
        self.poisoned = False
        #: Whether this is an input of the trace, to be written back to the caller.
        self.argument = False
        #: Cells with the same mark never alias each other; each may still alias others.
        self.distinct: object = None
        #: For a cell whose memory is known only at run time: an index, and the cells among which the index
        #: chooses (-1: none of them).
        self.identity: tuple[tf.Tensor, tuple[Cell, ...]] | None = None
        #: The value of this cell in a foreign graph, if such a graph has read it.
        self.foreign: Foreign | None = None

    @property
    def value(self) -> tf.Tensor:
        """Return the current base tensor.

        Raises:
            StagingError: the contents are unknown, because an array that may share this memory has been
                written to.
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
        """Return the base tensor as a foreign graph sees it."""
        if not hasattr(self._value, "numpy") or tf.executing_eagerly():
            return self._value
        graph = tf.compat.v1.get_default_graph()
        if self.foreign is None or self.foreign.graph() is not graph:
            self.foreign = Foreign(graph, self._value)
        return self.foreign.value

    def write(self, value: tf.Tensor) -> None:
        """Replace the base tensor. Enclosing regions record that this cell has changed."""
        if self.foreign is not None and not _stack.regions and self._is_foreign(value):
            return
        self._replace(value)
        through = self._write_through(value)
        for other in aliases(self):
            if other not in through and not self.is_distinct_from(other):
                other.poison()

    def _is_foreign(self, value: tf.Tensor) -> bool:
        """Return whether a write belongs to a foreign graph, so that only that graph can see it."""
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
        """Return whether two cells are certainly different memory. Each of them may still alias others."""
        return self.distinct is not None and other.distinct is self.distinct

    def _replace(self, value: tf.Tensor) -> None:
        for entered in reversed(_stack.regions):
            if entered is self.birth:
                break
            entered.written.setdefault(self, self._value)
        self._value = value

    def _write_through(self, value: tf.Tensor) -> list[Cell]:
        """Write to the argument that this cell turns out to be at run time.

        Returns:
            The cells that now hold the written value.
        """
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
        """Make the contents unknown: reading them from now on is an error that ends the staging."""
        if not self.poisoned:
            self.poisoned = True
            for entered in reversed(_stack.regions):
                if entered is self.birth:
                    break
                entered.poisoned.append(self)

    def rebase(self, value: tf.Tensor) -> None:
        """Replace the base tensor without counting this as a write (entering and leaving a region)."""
        self._value = value


def is_from_outside(cell: Cell) -> bool:
    """Return whether this thread stages a loop or branch, and `cell` was born before it."""
    return len(_stack.regions) > 1 and cell.birth is not _stack.regions[-1]


def aliases(cell: Cell) -> list[Cell]:
    """Return the other cells that may be the same memory as `cell`, directly or through a third cell."""
    return reached(cell.may_alias, without=cell)


def reached(cells: Iterable[Cell], without: Cell) -> list[Cell]:
    """Return `cells`, and all cells that may alias one of them through other cells than `without`."""
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
    """Return whether a cell was born before the innermost region was entered."""
    return cell.birth is None or any(cell.birth is one for one in _stack.regions[:-1])


def is_known(cell: Cell) -> bool:
    """Return whether a cell was born in a region that is still open, or before all regions."""
    return cell.birth is None or any(cell.birth is one for one in _stack.regions)


def link_aliases(merged: Cell, sources: Iterable[Cell]) -> None:
    """Declare that `merged` may be the same memory as any of `sources`: a write to one cell poisons the
    others.
    """
    distinct = tuple(cell for cell in sources if cell is not merged)
    merged.may_alias += distinct
    for cell in distinct:
        cell.may_alias += (merged,)
