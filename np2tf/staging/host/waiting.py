"""Functions of a program that are translated when it is time to compile them, not when they are defined."""

from __future__ import annotations

import functools
import sys
import time
import types
from typing import TYPE_CHECKING, Any

from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.front.residency import without_tensors
from np2tf.core import late
from np2tf.core.errors import CalleeError
from np2tf.staging.host.jit import JittedFunction, Run, called
from np2tf.staging.host.originals import remember_original
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.call_context import is_on_host, tensorflow
from np2tf.staging.tiers.ledger import TRANSLATE, ledger

if TYPE_CHECKING:
    from np2tf.staging.compile.compiler import Compiler

#: The name of the decorator in code whose functions wait.
WAIT = "_np2tf_wait"
#: Sets the class of an object that passes for a function.
_CLASS: Any = object.__dict__["__class__"]


@without_tensors
class WaitingFunction(JittedFunction):
    """A jitted function that is the source's own until a call is to be compiled, and is translated then."""

    _is_waiting = True
    #: Whether calls of the object are calls of the source's function.
    has_given_calls_away = False
    #: After how many timed calls the source's function is to be called instead.
    _calls_to_leave = constants.CALLS_TO_LEAVE
    #: Why the function cannot be translated, as the rest of "it …"; empty if nothing is known against it.
    _refusal = ""

    def _choose(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        if self._is_waiting and (self._refusal or self._may_wait(args, kwargs)):
            return self._host.run_inside if self._host.calls.depth else self._run_timed
        return super()._choose(args, kwargs)

    def _note_length(self) -> None:
        references = sys.getrefcount(self)
        super()._note_length()
        host = self._host
        if host.timed_calls >= self._calls_to_leave and host.average < constants.TINY_CALL:
            self._calls_to_leave *= 2
            if self._is_waiting:
                self._leave(references)

    def _leave(self, references: int) -> None:
        """Let calls be those of the source's function, because this object costs more than it can gain. A
        caller that is compiled translates it.

        The source's own function takes the place of a method, unless anything but the class refers to this
        object, because the program may compare the two.

        Args:
            references: the number of references to it that its latest call has seen.
        """
        function: Any = self.__wrapped__
        if not self.has_given_calls_away:
            of_source = {"__call__": staticmethod(function), "has_given_calls_away": True}
            kind = type(self)
            _CLASS.__set__(self, type(kind.__name__, (kind,), {**of_source, "__module__": __name__}))
        *path, name = function.__qualname__.split(".")
        owner = _owner_of(path, function.__globals__) if path else None
        is_alone = references == _references_of_call() + (called.functions is not None) + 1
        if owner is not None and is_alone and vars(owner).get(name) is self:
            setattr(owner, name, function)

    def _may_wait(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return whether a call runs on the host without a translation."""
        if tensorflow.graphs.stack and not fast_flags.is_unstaged:
            return False  # a caller is being traced
        if is_on_host(args, kwargs) and not self._needs_tensorflow(args, kwargs):
            return True
        return bool(self.translate())

    @functools.cached_property
    def _compiler(self) -> Compiler:
        if self._is_waiting and (reason := self.translate()):
            code = self.__wrapped__.__code__
            place = code.co_filename, code.co_firstlineno
            raise CalleeError(
                f"`{self.__wrapped__.__qualname__}` ({place[0]}:{place[1]}) cannot be compiled: it {reason}",
                place,
            )
        return super()._compiler

    def take_calls_back(self) -> None:
        """Let calls be those of this object again, before a trace calls it."""
        if self.has_given_calls_away:
            _CLASS.__set__(self, type(self).__base__)

    def translate(self) -> str:
        """Put the translation in the place of the source's function; return why there is none, or nothing."""
        self.take_calls_back()
        if self._is_waiting and not self._refusal:
            source: Any = self.__wrapped__
            start = time.perf_counter()
            self._refusal, translation = late.translator.staged_version(source)
            ledger.note(TRANSLATE, time.perf_counter() - start)
            if translation is not None:
                self.__wrapped__ = translation.__wrapped__
                remember_original(self.__wrapped__, source)  # type: ignore[arg-type]
                self._is_waiting = False
        return self._refusal


def _owner_of(path: list[str], names: dict[str, Any]) -> type | None:
    """Return the class at a path below the names of a module; None if there is none."""
    owner = names.get(path[0])
    for part in path[1:]:
        owner = vars(owner).get(part) if isinstance(owner, type) else None
    return owner if isinstance(owner, type) else None


class _Probe(WaitingFunction):
    """Counts the references that a call makes, where a function asks for them."""

    references = 0

    def _note_length(self) -> None:
        self.references = sys.getrefcount(self)


@functools.cache
def _references_of_call() -> int:
    """Return how many references to a waiting function a call as a method makes in this version of Python."""

    def function(*_: Any) -> None:
        """Do nothing."""

    counted, called.functions = called.functions, None  # no report is to list it
    try:
        probe = _Probe(function)
        probe.bypass_compiler()
        probe._untimed_calls = 0
        type("Owner", (), {"probe": probe})().probe()
    finally:
        called.functions = counted
    return probe.references - len(("probe", "the class"))


class _Decorator:
    """Holds the decorator as a method, because programs list the functions of a module."""

    def wait(self, function: types.FunctionType) -> WaitingFunction:
        """Return the function, which is translated when it is time to compile it."""
        return WaitingFunction(function)


#: The global that code with waiting functions needs.
NAMES = {WAIT: _Decorator().wait}
