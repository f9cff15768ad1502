"""The stand-in of a generator in a traced function: its methods draw in the graph."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from np2tf.runtime.structures.array_stand_in import STAND_INS
from np2tf.staging import RandomUseError
from np2tf.tnp._tensor.storage import current_scope

#: Methods and attributes that read the state, or change it without drawing.
_NO_DRAWS = frozenset({"bit_generator", "get_state", "set_state", "seed", "spawn"})


class GeneratorStandIn:
    """Stands for a NumPy generator. Only the thread that traces gets methods that draw in the graph."""

    __slots__ = ("__weakref__", "_np2tf_buffer")

    def __init__(self, generator: Any) -> None:
        object.__setattr__(self, "_np2tf_buffer", generator)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class of the generator, for ``isinstance``."""
        return type(self._np2tf_buffer)

    def __getattr__(self, name: str) -> Any:
        generator = self._np2tf_buffer
        attribute = getattr(generator, name)
        scope = current_scope()
        if scope is None:
            return attribute
        if name in _NO_DRAWS or name.startswith("_") or not callable(attribute):
            raise RandomUseError(f"a generator is asked for its `{name}`")
        assert scope.trace.draws is not None
        return partial(scope.trace.draws.draw, generator, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._np2tf_buffer, name, value)


STAND_INS.add(GeneratorStandIn)
_stand_ins: WeakValueDictionary[int, GeneratorStandIn] = WeakValueDictionary()
_lock = threading.Lock()


def generator_stand_in(generator: Any) -> GeneratorStandIn:
    """Return the single stand-in for a generator, which the stand-in keeps alive."""
    with _lock:
        stand_in = _stand_ins.get(id(generator))
        if stand_in is None:
            stand_in = _stand_ins[id(generator)] = GeneratorStandIn(generator)
        return stand_in
