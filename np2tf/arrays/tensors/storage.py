"""Arrays from outside in a graph that np2tf does not build, such as the graph of a plain `tf.function`.

Such a graph holds the value that an array had when the graph was built. It cannot write to the array, and
does not see later writes. `np2tf.jit` does both.
"""

from __future__ import annotations

import operator
import threading
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from np2tf.arrays.front.flags import count_scopes
from np2tf.arrays.front.residency import device_kind, surroundings
from np2tf.arrays.tensors.graphs import default_graph
from np2tf.core.errors import AliasingError, MissedExceptionError, RecursionLimitError
from np2tf.core.late import tf
from np2tf.core.own_warnings import PACKAGE_FOLDER

if TYPE_CHECKING:
    import tensorflow as tf

    from np2tf.arrays.tensors.trace import TraceContext


# -- foreign graphs ------------------------------------------------------------------------------------------


class ForeignGraphWarning(UserWarning):
    """A foreign graph and the program see different values of an array."""


class ForeignValue:
    """The value of an array in one foreign graph.

    Attributes:
        graph: the graph, as a weak reference.
        value: the array's value in the graph.
    """

    __slots__ = ("graph", "value")

    def __init__(self, graph: Any, value: tf.Tensor) -> None:
        self.graph = weakref.ref(graph)
        self.value = value


@contextmanager
def as_graph_inputs(storages: Iterable[Any]) -> Iterator[None]:
    """Build a graph of np2tf in the `with` block; the given storages are inputs of it, and not foreign."""
    before = [(storage, storage.foreign) for storage in storages]
    try:
        yield
    finally:
        for storage, foreign in before:
            storage.foreign = foreign


def warn(code: str) -> None:
    """Warn at the user's line, also in code that AutoGraph has generated from the user's code."""
    from tensorflow.python.util import tf_stack

    messages = {
        "NP2TF537": "a tf.function writes to an array from outside: only its graph sees the new value",
        "NP2TF538": "a tf.function read this array during tracing, and will not see this write",
    }
    frames = [frame for frame in tf_stack.extract_stack() if not frame.filename.startswith(PACKAGE_FOLDER)]
    text = f"{code} {messages[code]}; np2tf.jit follows writes"
    warnings.warn_explicit(text, ForeignGraphWarning, frames[-1].filename, frames[-1].lineno)


# -- storage -------------------------------------------------------------------------------------------------
# Storages: the mutable storage behind arrays on TensorFlow, and the record of who writes to it.
#
# A `Storage` holds one immutable base tensor; a write replaces the tensor. All arrays that share memory in
# NumPy's sense share a storage. While a graph is built, each trace, loop body and branch is a
# `StagingScope`. A scope records the storages that were born outside of it and are written inside of it;
# these become loop state or branch results.

#: Staged branches and loops that are nested more deeply come from calls that do not end while staging.
MOST_NESTED = 32


#: A lock for replacing a part of a base, which reads and writes the whole base: as in NumPy, threads may
#: write to parts of one array at the same time.
write_lock = threading.RLock()


class StagingScope:
    """A stretch of staged code with its own body: a trace, a loop body, or one side of a branch.

    Attributes:
        trace: the trace of the staged function, which all its scopes share.
        writes: the storages born outside and written inside, with their values before the first write.
        reads: the storages born outside and read inside.
        poisoned_storages: the storages whose contents became unknown inside.
        counter: the number of the iteration, in the body of a staged loop.
        numbers: the staged numbers made in the body of that loop.
    """

    __slots__ = ("counter", "numbers", "poisoned_storages", "reads", "trace", "writes")

    def __init__(self, trace: TraceContext, counter: tf.Tensor | None = None) -> None:
        self.trace = trace
        outer: StagingScope | None = current_scope()
        self.counter: tf.Tensor | None = outer.counter if counter is None and outer is not None else counter
        self.numbers: list[weakref.ref[Any]] = outer.numbers if counter is None and outer is not None else []
        self.writes: dict[Storage, tf.Tensor] = {}
        self.reads: set[Storage] = set()
        self.poisoned_storages: list[Storage] = []

    def undo(self) -> None:
        """Restore the values that the storages written in this scope had before."""
        for storage, before in self.writes.items():
            storage.rebase(before)
        for storage in self.poisoned_storages:
            storage.is_poisoned = False


class _Stack(threading.local):
    def __init__(self) -> None:
        self.scopes: list[StagingScope] = []


_stack = _Stack()


def staging_for_xla() -> bool:
    """Return whether XLA will compile the code that this thread is staging."""
    return bool(_stack.scopes) and _stack.scopes[-1].trace.xla


def staged_device() -> str:
    """Return the kind of device for which this thread is staging code, or else of this machine."""
    return _stack.scopes[-1].trace.device if _stack.scopes else device_kind()


def staging_at_once() -> bool:
    """Return whether the code that this thread is staging computes all iterations of a loop at once."""
    return bool(_stack.scopes) and _stack.scopes[-1].trace.at_once


def staging_to_discard() -> bool:
    """Return whether the code that this thread is staging only tells what a loop or branch does."""
    return bool(_stack.scopes) and bool(_stack.scopes[-1].trace.throw_aways)


def staging_handlers() -> bool:
    """Return whether the code that this thread is staging handles exceptions, so that no exception may be
    missed.
    """
    return bool(_stack.scopes) and _stack.scopes[-1].trace.handles


def _refuse_open_shape(value: tf.Tensor | None) -> None:
    """Refuse an array of data-dependent shape in code that handles exceptions: a graph could miss its
    exception.

    Raises:
        StagingError: the shape of the array depends on data.
    """
    if value is None or not value.shape.is_fully_defined():
        message = "an array whose shape depends on data may hide an exception that the code handles"
        raise MissedExceptionError(message)


def current_scope() -> StagingScope | None:
    """Return the innermost scope being staged; None in eager code and in foreign graphs."""
    return _stack.scopes[-1] if _stack.scopes else None


def need_mask(mask: tf.Tensor) -> None:
    """Begin a trace for XLA again, with a mask as a constant, if it depends on nothing that may vary.

    XLA needs to know the number of elements that are true.
    """
    scope = current_scope()
    if scope is not None and scope.trace.xla:
        scope.trace.need(mask)


class StandInBase:
    """The base class of stand-ins for arrays on the host that a function being traced reads by name."""

    __slots__ = ()

    def resolve(self) -> Any:
        """Return the array of this thread's trace, or the array on the host if this thread traces nothing."""
        raise NotImplementedError


def is_stand_in(value: Any) -> bool:
    """Return whether `value` is a stand-in for an array of this thread's trace."""
    return issubclass(type(value), StandInBase) and bool(_stack.scopes)


def resolve_stand_ins(value: Any) -> Any:
    """Return `value` with every stand-in replaced by its array, also in tuples, lists, dicts and slices."""
    kind = type(value)
    if kind is tuple or kind is list:
        items = kind(map(resolve_stand_ins, value))
        return value if all(map(operator.is_, items, value)) else items
    if kind is dict:
        entries = {key: resolve_stand_ins(item) for key, item in value.items()}
        return value if all(map(operator.is_, entries.values(), value.values())) else entries
    if kind is slice:
        return slice(
            resolve_stand_ins(value.start), resolve_stand_ins(value.stop), resolve_stand_ins(value.step)
        )
    return value.resolve() if issubclass(kind, StandInBase) else value


@contextmanager
def staging_scope(trace: TraceContext, counter: tf.Tensor | None = None) -> Iterator[StagingScope]:
    """Stage the body of the `with` block as a scope. A loop's body has the number of its iteration.

    Raises:
        StagingError: the scopes are nested too deeply.
    """
    if len(_stack.scopes) >= MOST_NESTED:
        raise RecursionLimitError("compiled branches and loops are nested too deeply")
    if trace is not None:
        trace.check_deadline()
    scope = StagingScope(trace, counter)
    _stack.scopes.append(scope)
    count_scopes(1)
    try:
        yield scope
    finally:
        count_scopes(-1)
        _stack.scopes.pop()


@dataclass(frozen=True)
class GappedLayout:
    """The layout of foreign memory that has gaps or runs backwards.

    Attributes:
        strides: the stride of each axis, in elements. Layouts whose arrays have the same views and copies
            have the same strides.
    """

    strides: tuple[int, ...]


class Storage:
    """The storage of one base tensor, which an array and its views read and write."""

    __slots__ = (
        "__weakref__",
        "_value",
        "argument",
        "birth",
        "distinct",
        "foreign",
        "identity",
        "is_poisoned",
        "may_alias",
        "order",
        "owner",
        "owner_chain",
    )

    def __init__(self, value: tf.Tensor) -> None:
        self._value = value
        self.birth = current_scope()
        if self.birth is not None and self.birth.trace.handles:
            _refuse_open_shape(value)
        #: The array that owns this memory, the `base` of all views, from the first view on.
        self.owner: weakref.ref[Any] | None = None
        #: The chain of view transforms through which the owner sees the memory; empty if it sees the memory
        #: unchanged.
        self.owner_chain: tuple[Any, ...] = ()
        #: The axes from the slowest to the fastest, as NumPy's memory would have them; None for C order. A
        #: tensor is always in C order: this order decides which reshapes are views.
        self.order: tuple[int, ...] | GappedLayout | None = None
        self.may_alias: tuple[Storage, ...] = ()
        self.is_poisoned = False
        #: True if this is an input of the trace, to be written back to the caller.
        self.argument = False
        #: Storages with the same mark never alias each other; each may still alias other storages.
        self.distinct: object = None
        #: For a storage whose memory is known only at run time: an index, and the storages among which the
        #: index chooses (-1: none of them).
        self.identity: tuple[tf.Tensor, tuple[Storage, ...]] | None = None
        #: The value of this storage in a foreign graph, if such a graph has read it.
        self.foreign: ForeignValue | None = None

    @property
    def value(self) -> tf.Tensor:
        """Return the current base tensor.

        Raises:
            StagingError: the contents are unknown, because an array that may share this memory has been
                written to.
        """
        if self.is_poisoned:
            raise AliasingError(
                "the code reads an array that a compiled loop or branch may have written under another name"
            )
        scopes = _stack.scopes
        if not scopes and surroundings.graphs is not None and surroundings.graphs.stack:
            return self._in_foreign_graph()
        for scope in reversed(scopes):
            if scope is self.birth:
                break
            scope.reads.add(self)
        return self._value

    def note_read(self) -> None:
        """Record that the contents are read, where that matters."""

    def _in_foreign_graph(self) -> tf.Tensor:
        """Return the base tensor as a foreign graph sees it."""
        if not hasattr(self._value, "numpy") or tf.executing_eagerly():
            return self._value
        graph = default_graph()
        if self.foreign is None or self.foreign.graph() is not graph:
            self.foreign = ForeignValue(graph, self._value)
        return self.foreign.value

    def write(self, value: tf.Tensor) -> None:
        """Replace the base tensor. Enclosing scopes record that this storage has changed."""
        if self.foreign is not None and not _stack.scopes and self._is_foreign(value):
            return
        self._replace(value)
        through = self._write_through(value)
        for alias in aliases(self):
            if alias not in through and not self.is_distinct_from(alias):
                alias.poison()

    def _is_foreign(self, value: tf.Tensor) -> bool:
        """Return whether a write belongs to a foreign graph, so that only that graph can see it."""
        foreign, self.foreign = self.foreign, None
        if foreign is None or foreign.graph() is None or not hasattr(self._value, "numpy"):
            return False
        if hasattr(value, "numpy"):
            warn("NP2TF538")
            return False
        warn("NP2TF537")
        foreign.value = value
        self.foreign = foreign
        return True

    def is_distinct_from(self, other_storage: Storage) -> bool:
        """Return whether two storages are certainly different memory. Each of them may still alias other
        storages.
        """
        return self.distinct is not None and other_storage.distinct is self.distinct

    def _replace(self, value: tf.Tensor) -> None:
        for scope in reversed(_stack.scopes):
            if scope is self.birth:
                break
            scope.writes.setdefault(self, self._value)
        self._value = value

    def _write_through(self, value: tf.Tensor) -> list[Storage]:
        """Write to the argument that this storage turns out to be at run time.

        Returns:
            The storages that now hold the written value.
        """
        if self.identity is None:
            return []
        number, originals = self.identity
        through = []
        for n, storage in enumerate(originals):
            if storage.argument and not storage.is_poisoned and _have_same_type(storage._value, value):
                storage._replace(tf.where(tf.equal(number, n), value, storage._value))
                through.append(storage)
        return through

    def poison(self) -> None:
        """Make the contents unknown: reading them from now on is an error that ends the staging."""
        if not self.is_poisoned:
            self.is_poisoned = True
            for scope in reversed(_stack.scopes):
                if scope is self.birth:
                    break
                scope.poisoned_storages.append(self)

    def rebase(self, value: tf.Tensor) -> None:
        """Replace the base tensor without counting this as a write (entering and leaving a scope)."""
        self._value = value


@contextmanager
def rebased_inside(storages: Sequence[Storage], before: Sequence[tf.Tensor]) -> Iterator[None]:
    """Build a loop in the `with` block, where storages have tensors of the loop's own graphs.

    Afterwards they have the tensors `before` again, also in the records of the scopes around.
    """
    pairs = list(zip(storages, before, strict=True))
    new = [(scope, pair) for scope in _stack.scopes for pair in pairs if pair[0] not in scope.writes]
    try:
        yield
    finally:
        for scope, (storage, value) in new:
            if storage in scope.writes:
                scope.writes[storage] = value
        for storage, value in pairs:
            storage.rebase(value)


def is_from_outside(storage: Storage) -> bool:
    """Return whether this thread stages a loop or branch, and `storage` was born before it."""
    return len(_stack.scopes) > 1 and storage.birth is not _stack.scopes[-1]


def aliases(storage: Storage) -> list[Storage]:
    """Return the other storages that may be the same memory as `storage`, directly or through a third."""
    return alias_closure(storage.may_alias, without=storage)


def alias_closure(storages: Iterable[Storage], without: Storage) -> list[Storage]:
    """Return `storages` and all that may alias one of them through other storages than `without`."""
    closure: list[Storage] = []
    stack = list(storages)
    while stack:
        alias = stack.pop()
        if alias is not without and alias not in closure:
            closure.append(alias)
            stack += alias.may_alias
    return closure


def _have_same_type(a: tf.Tensor, b: tf.Tensor) -> bool:
    return a.dtype == b.dtype and a.shape.is_fully_defined() and a.shape == b.shape


def is_outside(storage: Storage) -> bool:
    """Return whether a storage was born before the innermost scope was entered."""
    return storage.birth is None or any(storage.birth is scope for scope in _stack.scopes[:-1])


def is_known(storage: Storage) -> bool:
    """Return whether a storage was born in a staging scope that is still open, or before all scopes."""
    return storage.birth is None or any(storage.birth is scope for scope in _stack.scopes)


def link_aliases(target: Storage, sources: Iterable[Storage]) -> None:
    """Declare that `target` may be the same memory as any of `sources`: a write to one storage poisons the
    other storages.
    """
    distinct = tuple(storage for storage in sources if storage is not target)
    target.may_alias += distinct
    for storage in distinct:
        storage.may_alias += (target,)
