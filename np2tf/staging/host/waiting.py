"""Functions of a program that are translated when it is time to compile them, not when they are defined."""

from __future__ import annotations

import functools
import time
import types
from typing import TYPE_CHECKING, Any

from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.front.residency import without_tensors
from np2tf.core import late
from np2tf.core.errors import CalleeError
from np2tf.staging.host.jit import JittedFunction, Run
from np2tf.staging.host.originals import remember_original
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.call_context import is_on_host, tensorflow
from np2tf.staging.tiers.ledger import TRANSLATE, ledger

if TYPE_CHECKING:
    from np2tf.staging.compile.compiler import Compiler

#: The names of the decorators in code whose functions wait: of functions that the module uses in other ways
#: than calling them, and of functions that it only calls.
WAIT, WAIT_OR_LEAVE = "_np2tf_wait", "_np2tf_wait_or_leave"


@without_tensors
class WaitingFunction(JittedFunction):
    """A jitted function that is the source's own until a call is to be compiled, and is translated then."""

    _is_waiting = True
    #: Whether the source's function may take this object's place where the program looks it up.
    _may_leave = False
    #: Why the function cannot be translated, as the rest of "it …"; empty if nothing is known against it.
    _refusal = ""

    def _choose(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
        if self._is_waiting and (self._refusal or self._may_wait(args, kwargs)):
            return self._host.run_inside if self._host.calls.depth else self._run_timed
        return super()._choose(args, kwargs)

    def _note_length(self) -> None:
        super()._note_length()
        host = self._host
        is_tiny = host.average < constants.TINY_CALL and host.timed_calls >= constants.CALLS_TO_LEAVE
        if is_tiny and self._may_leave and self._is_waiting:
            self._may_leave = False
            self._leave()

    def _leave(self) -> None:
        """Put the source's function in the place of this object, which costs more than it can gain. A caller
        that is compiled translates it.
        """
        function: Any = self.__wrapped__
        *path, name = function.__qualname__.split(".")
        names, owner = function.__globals__, None
        for part in path:
            owner = names.get(part)
            names = vars(owner) if isinstance(owner, type) else {}
        if names.get(name) is self:
            setattr(owner, name, function) if owner is not None else names.update({name: function})

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

    def translate(self) -> str:
        """Put the translation in the place of the source's function; return why there is none, or nothing."""
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


class _Decorator:
    """Holds the decorator as a method, because programs list the functions of a module."""

    def wait(self, function: types.FunctionType) -> WaitingFunction:
        """Return the function, which is translated when it is time to compile it."""
        return WaitingFunction(function)

    def wait_or_leave(self, function: types.FunctionType) -> WaitingFunction:
        """Return the same, if nothing in the module depends on which object it is."""
        waiting = WaitingFunction(function)
        waiting._may_leave = True
        return waiting


#: The globals that code with waiting functions needs.
NAMES = {WAIT: _Decorator().wait, WAIT_OR_LEAVE: _Decorator().wait_or_leave}
