"""`tnp.random`: numpy.random.

Every number is drawn by NumPy, from its own streams and on the host; only the arrays are ours. NumPy's global
state is the state of the functions here too. While staging, drawing is refused: it would happen only once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import StagingError
from np2tf.tnp.cells import current_region
from np2tf.tnp.conversion import to_numpy
from np2tf.tnp.host import missing_names, public_names
from np2tf.tnp.ndarray import is_array
from np2tf.tnp.normalize import write_back
from np2tf.tnp.residence import placed

__all__ = list(np.random.__all__)
__dir__ = public_names("numpy.random", globals())
__getattr__ = missing_names(globals(), "numpy.random")


def _require_eager(name: str) -> None:
    if current_region() is not None or not tf.executing_eagerly():
        raise StagingError(f"numpy.random.{name} draws from a stream of random numbers", "NP2TF506")


def _drawing(name: str, draw: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What NumPy's `draw` returns, as arrays of ours; into `out` where one is given."""
    _require_eager(name)
    named = {key: to_numpy(value) for key, value in kwargs.items()}
    result = draw(*map(to_numpy, args), **named)
    if kwargs.get("out") is not None:
        return write_back(kwargs["out"], named["out"])
    return placed(result)


def _shuffling(shuffle: Callable[..., Any], x: Any, *args: Any, **kwargs: Any) -> Any:
    """Shuffle in place, also a list (of whatever); returns what was shuffled."""
    _require_eager("shuffle")
    target = to_numpy(x) if is_array(x) or isinstance(x, (tf.Tensor, tf.Variable)) else x
    shuffle(target, *args, **kwargs)
    return write_back(x, target) if target is not x else x


def _function(name: str, draw: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(draw)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _shuffling(draw, *args, **kwargs) if name == "shuffle" else _drawing(name, draw, args, kwargs)

    call.__module__ = __name__
    return call


def _method(name: str, documented: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(documented)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        draw = getattr(self._plain, name)
        return _shuffling(draw, *args, **kwargs) if name == "shuffle" else _drawing(name, draw, args, kwargs)

    return call


def _overridden(base: type) -> dict[str, Any]:
    """Methods that draw through the plain NumPy object, one for each public method of `base`."""
    return {
        name: _method(name, method)
        for name, method in vars(base).items()
        if not name.startswith("_") and callable(method) and name not in ("bit_generator", "spawn")
    }


class _AlsoNumPys(type):
    """Lets ``isinstance`` take NumPy's own generators, which np2tf's translations may be given."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1])


class Generator(np.random.Generator, metaclass=_AlsoNumPys):
    """NumPy's Generator, whose arrays are ours."""

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(bit_generator)
        self._plain = np.random.Generator(bit_generator)

    def __reduce__(self) -> tuple[Any, ...]:
        return Generator, (self.bit_generator,)

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """Independent generators that follow from this one."""
        _require_eager("Generator.spawn")
        return [Generator(plain.bit_generator) for plain in self._plain.spawn(n_children)]


class RandomState(np.random.RandomState, metaclass=_AlsoNumPys):
    """NumPy's RandomState, whose arrays are ours."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(to_numpy(seed))
        self._plain = np.random.RandomState(self._bit_generator)

    def __reduce__(self) -> tuple[Any, ...]:
        _, arguments, state = self._plain.__reduce__()[:3]
        return RandomState, arguments, state

    def __getstate__(self) -> Any:
        return self._plain.__getstate__()

    def __setstate__(self, state: Any) -> None:
        self._plain.__setstate__(state)


for _class, _base in ((Generator, np.random.Generator), (RandomState, np.random.RandomState)):
    for _name, _wrapped in _overridden(_base).items():
        setattr(_class, _name, _wrapped)


def default_rng(seed: Any = None) -> Generator:
    """A generator of numbers that are NumPy's for the same seed."""
    _require_eager("default_rng")
    if type(seed) is Generator:
        return seed
    return Generator(np.random.default_rng(to_numpy(seed)).bit_generator)


#: Ours, or taken from NumPy as they are when first asked for.
_KEPT = frozenset({"default_rng", "test", "get_bit_generator", "set_bit_generator"})
for _name in dir(np.random):
    _value = getattr(np.random, _name)
    if not (_name.startswith("_") or _name in _KEPT or isinstance(_value, type)) and callable(_value):
        globals()[_name] = _function(_name, _value)
