"""The entry of instrumented code: `watch` returns the parts in which a loop runs."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable
from typing import Any

from np2tf.faults import note_fault
from np2tf.runtime.replacement import replacement
from np2tf.runtime.replacement.loop_function import SHORT, WATCH
from np2tf.runtime.replacement.loop_items import arrays_of
from np2tf.runtime.replacement.watched_loop import WatchedLoop, loops


def _is_of_main(frame: types.FrameType) -> bool:
    return frame.f_globals.get("__name__") == "__main__"


class _Watching:
    """Holds `watch` as a method, because programs list the functions of a module."""

    def watch(self, numbers: Any, key: str) -> Iterable[Any]:
        """Return the parts in which a loop runs over `numbers`; for a `while`, none unless it is watched.

        Args:
            numbers: the loop's iterable; None for a `while`.
            key: the loop's key.
        """
        # Inner loops of a few iterations are run very often: they are told first.
        try:
            is_range = type(numbers) is range
            if is_range:
                try:
                    count = len(numbers)
                except OverflowError:
                    return (numbers,)  # more numbers than any loop can run over
                if count < SHORT:
                    return (numbers,)
            loop = loops.get(key)
            if loop is not None and loop.function.in_module and not _is_of_main(sys._getframe(1)):
                loop = None
            if numbers is None:
                if loop is None or not loop.may_be_watched(replacement.HOT):
                    return ()
                return replacement.LoopRun(replacement.UNLIMITED_ROUNDS, loop)
            if loop is None or loop.refused:
                return (numbers,)
            if loop.function.items:
                return _watched_items(numbers, loop)
            if not is_range or not loop.may_be_watched(replacement.HOT / count):
                return (numbers,)
            return replacement.LoopRun(numbers, loop)
        except Exception as error:
            note_fault(error)
            return () if numbers is None else (numbers,)


watch = _Watching().watch


def _watched_items(iterable: Any, loop: WatchedLoop) -> Iterable[Any]:
    """Return the parts in which a loop runs over an iterable that may consist of arrays."""
    arrays = arrays_of(iterable, loop.function.kind)
    if arrays is None:
        return (iterable,)
    count = min(map(len, arrays))
    if count < SHORT or not loop.may_be_watched(replacement.HOT / count):
        return (iterable,)
    return replacement.LoopRun(range(count), loop, arrays, iterable)


#: The globals that instrumented code needs.
NAMES = {WATCH: watch}
