"""What earlier processes measured, under names that are the same in every process, and what that predicts for
this one.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import os
import platform
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from np2tf.arrays.array.ndarray import is_array
from np2tf.core.counts import Fallback, counts, tell_unjitted
from np2tf.core.faults import note_fault
from np2tf.core.own_warnings import PACKAGE_FOLDER
from np2tf.core.settings import config
from np2tf.staging.process.boundary import raw
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.call_context import tensorflow
from np2tf.staging.tiers.clock import clock
from np2tf.staging.xla.compiler_options import with_options

if TYPE_CHECKING:
    from np2tf.staging.compile.specializations import SpecializationCache
    from np2tf.staging.tiers.budget import Budget


# -- digests -------------------------------------------------------------------------------------------------
# Names for functions and kinds of calls that are the same in every process, and need no TensorFlow.

_NUMBERS = (int, float, complex)
_WORDS = (str, bytes, bool, type(None))
_CONTAINERS = (list, tuple, dict)
#: The limits for the items of a container, for its depth, and for the characters of a string.
_ITEMS, _DEPTH, _CHARACTERS = 4, 3, 40


def digest_of_code(code: types.CodeType) -> str:
    """Return a digest of a function's code and place that does not change if lines before it move."""
    whole = blake2b(digest_size=16)
    for part in (code.co_filename, *_parts(code)):
        content = part if isinstance(part, bytes) else repr(part).encode("utf-8", "backslashreplace")
        whole.update(len(content).to_bytes(8, "little") + content)
    return whole.hexdigest()


def _parts(code: types.CodeType) -> Iterator[Any]:
    # Python 3.10 knows no more of code than its name; equal methods of two classes share a digest there.
    yield code.co_qualname if sys.version_info >= (3, 11) else code.co_name
    yield code.co_code
    yield code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    yield code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _parts(constant)
        else:
            yield _constant_text(constant)


def _constant_text(value: Any) -> str:
    """Return a constant as text; sets are sorted."""
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_constant_text, value)))}}}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_constant_text, value))})"
    return f"{type(value).__name__} {value!r}"


def digest_of_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """Return a digest of a kind of calls: dtypes, ranks and rough sizes of arrays, types of other values."""
    kinds = [_kind(value, 0) for value in args]
    kinds += [(name, _kind(kwargs[name], 0)) for name in sorted(kwargs)]
    return _short_hash(tuple(kinds))


@lru_cache(maxsize=4096, typed=True)
def _short_hash(kinds: tuple[Any, ...]) -> str:
    return blake2b(repr(kinds).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def _kind(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind in _NUMBERS:
        return kind.__name__
    if kind in _WORDS:
        return kind.__name__, repr(value[:_CHARACTERS] if isinstance(value, (str, bytes)) else value)
    if kind in _CONTAINERS:
        if depth == _DEPTH:
            return kind.__name__
        items = value
        if kind is dict:
            items = [value[name] for name in sorted(name for name in value if type(name) is str)]
        return kind.__name__, tuple(_kind(item, depth + 1) for item in items[:_ITEMS])
    if issubclass(kind, (np.ndarray, np.generic)) or kind in raw or is_array(value):
        return getattr(value.dtype, "str", None) or str(value.dtype), _rough_size(value.shape)
    # Other objects are asked for nothing, because their attributes may be properties that compute or raise.
    # Only the class of an object, and the name of a function, are the same in every process.
    return f"{kind.__module__}.{kind.__qualname__}", str(getattr(value, "__qualname__", ""))


def _rough_size(shape: Any) -> tuple[int, int]:
    """Return the rank, and the number of bits of the size."""
    try:
        size = 1
        for length in shape:
            size *= int(length)
        return len(shape), size.bit_length()
    except (TypeError, ValueError):  # not known
        return -1, 0


# -- decisions -----------------------------------------------------------------------------------------------
# Measurements that earlier processes of a program made of its functions: on which tier they run fastest.
#
# One entry of the cache holds the measurements for one program on one kind of machine. It is read when the
# first function is timed, and written when the process ends; measurements of other versions are not used.
# They decide only when something is compiled; results do not depend on them.

#: The version of the stored format.
FORMAT = 1
_CACHE = "np2tf.core.cache"
#: The usual settings; under other settings nothing is stored or followed.
_USUAL = {"tier": "auto", "jit": "on", "eager": "auto", "floats": "float64", "promotion": "numpy"}


class Refusal(NamedTuple):
    """The reason why calls cannot be compiled, and the status of the file that is the reason."""

    function: str
    code: str
    reason: str
    path: str
    line: int
    size: int
    change_time: int

    @classmethod
    def from_fallback(cls, why: Fallback) -> Refusal:
        """Return a refusal with the file's present status."""
        return cls(why.function, why.code, why.reason, why.path, why.line, *_stamp(why.path))

    @property
    def is_current(self) -> bool:
        """True if the file has not changed."""
        return (self.size, self.change_time) == _stamp(self.path)

    @property
    def fallback(self) -> Fallback:
        """The refusal as an entry of the counters."""
        return Fallback(self.function, self.reason, self.code, self.path, self.line)


class CallRecord(NamedTuple):
    """The measurements of calls of one kind.

    Attributes:
        host, compiled_seconds: the seconds of a call; 0.0 if not known.
        varying_numbers, pinned_numbers: the numbers that vary, and those among them that must be known while
            staging.
        refusal: the reason why there is no compiled code.
    """

    host: float = 0.0
    compiled_seconds: float = 0.0
    varying_numbers: tuple[int, ...] = ()
    pinned_numbers: tuple[int, ...] = ()
    numbers: int = 0
    refusal: Refusal | None = None

    @property
    def is_slower(self) -> bool:
        """True if compiled code is known to be slower than the host."""
        return 0.0 < self.host < self.compiled_seconds


class FunctionRecord(NamedTuple):
    """The measurements of a function, or of a loop.

    Attributes:
        host_seconds: the seconds that the host would have taken in the latest processes, without compiled
            code.
        cost, tries: the seconds of traces and first calls in a process, and the number of traces.
        ratio: the seconds of compiled code divided by the seconds of the host; -1.0 if not known.
        uses: the number of processes that have measured nothing since.
        call_records: the measurements by the digest of calls.
    """

    host_seconds: tuple[float, ...]
    cost: float
    tries: int
    ratio: float
    uses: int
    call_records: dict[str, CallRecord]

    @property
    def expected_seconds(self) -> float:
        """The seconds that the host is expected to take in this process."""
        return min(self.host_seconds, default=0.0)

    @property
    def saved_seconds(self) -> float:
        """The seconds that compiling at the first call saves, or 0.0 if it does not pay."""
        if self.ratio < 0.0:
            return 0.0
        gain = self.expected_seconds * (1.0 - self.ratio)
        return gain - self.cost if gain >= constants.FIRST_CALL_GAIN * self.cost else 0.0

    def to_data(self) -> tuple[Any, ...]:
        """Return the record as plain data."""
        call_records = {
            name: (*way[:-1], way.refusal and tuple(way.refusal)) for name, way in self.call_records.items()
        }
        return *self[:-1], call_records

    @classmethod
    def from_data(cls, data: Any) -> FunctionRecord:
        """Return the record for the result of `to_data`, or raise TypeError, ValueError or AttributeError."""
        record = cls._make(data)
        call_records = {}
        for name, fields in record.call_records.items():
            way = CallRecord._make(fields)
            call_records[name] = way._replace(
                refusal=None if way.refusal is None else Refusal._make(way.refusal)
            )
        float(record.expected_seconds + record.cost + record.ratio + record.tries + record.uses)
        return record._replace(call_records=call_records)


class Decisions:
    """The records of this process's program.

    Attributes:
        is_usual: whether all settings have their usual values.
    """

    def __init__(self) -> None:
        self.is_usual = True
        self._records: dict[str, FunctionRecord] | None = None
        self._outcomes: list[Callable[[], tuple[str, FunctionRecord | None]]] = []
        self._process = 0

    def notice_setting(self, name: str, value: str) -> None:
        """Record a setting; an unusual setting counts until the end of the process."""
        self.is_usual = self.is_usual and value == _USUAL[name]

    def disable(self) -> None:
        """Neither follow nor store anything in this process, because its times are not typical."""
        self.is_usual = False

    @property
    def is_at_hand(self) -> bool:
        """True if reading the records costs no noticeable time: a short program loads nothing for them."""
        return (
            self._records is not None
            or _CACHE in sys.modules
            or clock.host_seconds >= constants.LOADING_SECONDS
        )

    @property
    def records(self) -> dict[str, FunctionRecord]:
        """The records of earlier processes, by function."""
        if self._records is None:
            self._process = os.getpid()
            self._records = {}
            try:
                self._records = _read() if self.is_usual else {}
            except Exception as error:
                note_fault(error)
        return self._records

    def record_of(self, code: types.CodeType) -> FunctionRecord | None:
        """Return the record of a function, without refusals whose file has changed; None if there is none."""
        if not self.records or not self.is_usual:
            return None
        record = self.records.get(key_of(code))
        if record is None:
            return None
        stale = [
            name for name, way in record.call_records.items() if way.refusal and not way.refusal.is_current
        ]
        if stale:
            call_records = {name: way for name, way in record.call_records.items() if name not in stale}
            record = record._replace(call_records=call_records)
        return record

    @property
    def imports(self) -> bool:
        """True if importing TensorFlow pays by the savings of all functions together."""
        return sum(record.saved_seconds for record in self.records.values()) > constants.IMPORT_SECONDS

    @property
    def host_seconds(self) -> float:
        """The seconds that the host took in the recorded functions, in the longest process."""
        return sum(max(record.host_seconds, default=0.0) for record in self.records.values())

    def keep(self, outcome: Callable[[], tuple[str, FunctionRecord | None]]) -> None:
        """Ask for a function's record at the end of the process, and store it then."""
        if len(self._outcomes) >= constants.FUNCTIONS:
            return
        if not self._outcomes:
            atexit.register(self.store)
        self._outcomes.append(outcome)

    def store(self) -> None:
        """Write the records of this process; other processes may have written meanwhile."""
        try:
            self._store()
        except Exception as error:
            note_fault(error)

    def _store(self) -> None:
        if not self.is_usual or not self._outcomes or self._process != os.getpid():
            return
        cache = _cache()
        if cache is None:
            return
        own_records: dict[str, FunctionRecord | None] = {}
        for outcome in self._outcomes:
            try:
                key, record = outcome()
            except RuntimeError:  # a thread that still runs has changed the data
                continue
            except Exception as error:
                note_fault(error)
                continue
            before = own_records.get(key)
            own_records[key] = record if before is None or record is None else _merge(before, record)
        records = _read()
        for key, record in own_records.items():
            records.pop(key, None)
            if record is not None:
                records[key] = record
        latest = list(records.items())[-constants.FUNCTIONS :]
        value = {"of": versions(), "functions": {key: record.to_data() for key, record in latest}}
        cache.store(entry_name(), value)


def _merge(first: FunctionRecord, second: FunctionRecord) -> FunctionRecord:
    """Return the joint record of a function that was made twice."""
    host_seconds = tuple(a + b for a, b in zip(first.host_seconds[:1], second.host_seconds[:1], strict=False))
    call_records = dict(list({**first.call_records, **second.call_records}.items())[-constants.KINDS :])
    ratio = max(first.ratio, second.ratio)
    return FunctionRecord(
        (*host_seconds, *first.host_seconds[1:]),
        first.cost + second.cost,
        first.tries + second.tries,
        ratio,
        min(first.uses, second.uses),
        call_records,
    )


@lru_cache(maxsize=4096)
def key_of(code: types.CodeType) -> str:
    """Return the key of a function's record."""
    return digest_of_code(code)


def _stamp(path: str) -> tuple[int, int]:
    """Return a file's size and time of change."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _cache() -> Any:
    """Return the cache of decisions, or None if it is turned off."""
    # Imported only here: a program with translated modules has already loaded it.
    return importlib.import_module(_CACHE).decisions()


def _read() -> dict[str, FunctionRecord]:
    """Return the records of the program; none without a complete entry of these versions."""
    cache = _cache()
    entry = cache.load(entry_name()) if cache is not None else None
    with suppress(TypeError, ValueError, KeyError, AttributeError):
        if entry and entry["of"] == versions():
            return {key: FunctionRecord.from_data(data) for key, data in entry["functions"].items()}
    return {}


@lru_cache(maxsize=1)
def entry_name() -> str:
    """Return the name of the entry for the program, the machine and the settings that change compiled
    code.
    """
    main = sys.modules.get("__main__")
    program = getattr(main, "__file__", None)
    subject = os.path.abspath(program) if program else f"in {os.getcwd()}"
    parts = (FORMAT, subject, _machine(), config.bounds, with_options(os.environ.get("XLA_FLAGS", "")))
    return blake2b(repr(parts).encode("utf-8", "backslashreplace"), digest_size=20).hexdigest()


def _machine() -> tuple[Any, ...]:
    """Return the processor, the number of its cores, and the signs of an accelerator."""
    model = b""
    with suppress(OSError), open("/proc/cpuinfo", "rb") as file:
        lines = file.read(4096).split(b"\n")
        model = next((line for line in lines if line.startswith(b"model name")), b"")
    signs = os.environ.get("CUDA_VISIBLE_DEVICES"), os.path.exists("/dev/nvidia0")
    return platform.machine(), model, os.cpu_count(), *signs


@lru_cache(maxsize=1)
def versions() -> tuple[Any, ...]:
    """Return the versions that times depend on. TensorFlow's file stands for its version, because importing
    takes seconds.
    """
    tensorflow = None
    with suppress(ImportError, ValueError):  # it is refused, or something else has its name
        tensorflow = importlib.util.find_spec("tensorflow")
    numpy = importlib.import_module("numpy").__version__
    translator = importlib.import_module("np2tf.core.cache").fingerprint()
    return numpy, translator, _stamp(tensorflow.origin or "") if tensorflow else (), *_stamps()


def _stamps() -> Iterable[tuple[str, int, int]]:
    """Yield the parts of np2tf that the translator's fingerprint omits, with the number of files and the
    latest change.
    """
    for part in ("arrays", "staging", "transforms"):
        folders = os.walk(os.path.join(PACKAGE_FOLDER, part))
        times = [
            os.stat(os.path.join(folder, name)).st_mtime_ns
            for folder, _, names in folders
            for name in names
            if name.endswith(".py")
        ]
        yield part, len(times), max(times)


decisions = Decisions()
for _name in _USUAL:
    config.follow(_name, lambda value, name=_name: decisions.notice_setting(name, value))  # type: ignore[misc]


# -- prospect ------------------------------------------------------------------------------------------------
# The expected gain of compiling one function, by the measurements of earlier processes.


class Followed:
    """The measurements that earlier processes have left of a function or loop, and those of this process.

    Attributes:
        code: its code; None if it has none, and nothing is known or kept.
    """

    def __init__(self, code: types.CodeType | None) -> None:
        self.code = code
        self._refusals: dict[str, CallRecord] = {}
        self._is_kept = False

    @cached_property
    def record(self) -> FunctionRecord | None:
        """The record of earlier processes; None for most functions."""
        record = None if self.code is None else decisions.record_of(self.code)
        if record is not None:
            self._keep()
        return record

    def call_record(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> CallRecord | None:
        """Return the measurements of calls like this call; None if there are no measurements."""
        return None if self.record is None else self.record.call_records.get(digest_of_call(args, kwargs))

    def refuse(self, args: tuple[Any, ...], kwargs: dict[str, Any], why: Fallback) -> None:
        """Record that there is no compiled code for a call like this."""
        self._refusals[digest_of_call(args, kwargs)] = CallRecord(refusal=Refusal.from_fallback(why))
        if len(self._refusals) > constants.KINDS:  # only the latest are stored
            del self._refusals[next(iter(self._refusals))]
        self._keep()

    def _keep(self) -> None:
        if not self._is_kept and self.code is not None:
            self._is_kept = True
            decisions.keep(self.outcome)

    def outcome(self) -> tuple[str, FunctionRecord | None]:
        """Return the key, and the record to store; None to remove it."""
        assert self.code is not None
        record = self._current_record()
        return key_of(self.code), None if record.uses > constants.MAX_USES else record

    def _current_record(self) -> FunctionRecord:
        """Return the record for the next process."""
        raise NotImplementedError


class Prospect(Followed):
    """The measurements of a function.

    Args:
        host_seconds: returns the seconds that the host has spent in it.
    """

    def __init__(self, function: Callable[..., Any], host_seconds: Callable[[], float]) -> None:
        super().__init__(getattr(function, "__code__", None))
        self._host_seconds = host_seconds
        self._pays = self.record is not None and self.record.saved_seconds > 0.0
        self._reasons: set[str] = set()
        self._budget: Budget | None = None
        self._caches: Callable[[], Iterable[SpecializationCache]] = tuple

    def advice(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | None:
        """Return whether a call like this should be compiled now; None if no measurement decides it."""
        record = self.record
        if record is None or not decisions.is_usual:
            return None
        way = record.call_records.get(digest_of_call(args, kwargs))
        if way is None:
            return None
        if way.refusal is not None:
            self._tell(way.refusal)
            return False
        if way.is_slower:
            return False
        if self._pays and (tensorflow.is_known or decisions.imports):
            # Arrays whose sizes never repeat have equal digests: beyond the recorded number of traces, the
            # budget decides.
            return True if self._tries < record.tries else None
        seconds, longer = self._host_seconds(), constants.OTHER_KIND_OF_RUN
        if seconds >= longer * max(record.host_seconds, default=0.0):
            # The function takes much longer than before, so that the old measurement does not apply.
            is_open = tensorflow.is_known or clock.host_seconds >= longer * decisions.host_seconds
            return None if is_open else False
        may_pay = (
            record.ratio < 0.0 and record.expected_seconds - seconds >= constants.RETRY_UNRUN * record.cost
        )
        return None if may_pay and tensorflow.is_known else False

    def _tell(self, refusal: Refusal) -> None:
        """Give the warning of a refusal, as soon as compiling would have been tried."""
        if refusal.reason in self._reasons:
            return
        if self._host_seconds() >= constants.COMPILE_SECONDS:
            self._reasons.add(refusal.reason)
            why = counts.fell_back(refusal.fallback)
            if not why.kind.is_quiet:
                tell_unjitted(why)

    @property
    def _tries(self) -> int:
        """The number of traces of the function in this process."""
        return 0 if self._budget is None else self._budget.tries

    def follow(self, budget: Budget, caches: Callable[[], Iterable[SpecializationCache]]) -> None:
        """Use this budget and these caches for the record that this process leaves."""
        self._budget, self._caches = budget, caches
        self._keep()

    def _current_record(self) -> FunctionRecord:
        before = self.record or FunctionRecord((), 0.0, 0, -1.0, 0, {})
        caches = [cache for cache in self._caches() if cache.digest]
        host_estimate, ran, host_seconds = 0.0, 0.0, 0.0
        timings = [cache.timing for cache in caches]
        for timing in timings:
            if timing.on_host:
                host_seconds += timing.own_seconds
            else:
                # The best call on each tier counts: the mean of a few calls says more about other load.
                host_estimate += timing.calls * timing.usual_host
                ran += timing.calls * timing.usual_compiled
        total = self._host_seconds() + sum(timing.calls * timing.usual_host for timing in timings)
        seconds = (total, *before.host_seconds)[: constants.PROCESSES]
        tries = self._tries
        if not tries and not self._refusals:
            return before._replace(host_seconds=seconds, uses=before.uses + 1)
        call_records = {**before.call_records, **_call_records(caches), **self._refusals}
        call_records = dict(list(call_records.items())[-constants.KINDS :])
        ratio = (
            (ran + host_seconds) / (host_estimate + host_seconds)
            if host_estimate + host_seconds
            else before.ratio
        )
        if self._budget is None or not tries:
            return FunctionRecord(seconds, before.cost, before.tries, ratio, 0, call_records)
        return FunctionRecord(seconds, self._budget.seconds, tries, ratio, 0, call_records)


def _call_records(caches: Iterable[SpecializationCache]) -> dict[str, CallRecord]:
    records: dict[str, CallRecord] = {}
    for cache in caches:
        varying_numbers = tuple(sorted(cache.varying_numbers))
        pinned_numbers = tuple(sorted(cache.pinned_numbers))
        usual = cache.timing.usual_host, cache.timing.usual_compiled
        record = CallRecord(*usual, varying_numbers, pinned_numbers, len(cache.first_numbers))
        before = records.get(cache.digest)
        # Of calls with equal digests, the slowest decides.
        if before is None or record.host >= before.host:
            records[cache.digest] = record
    return records
