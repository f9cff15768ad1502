"""`tnp.random`: numpy.random.

NumPy draws every number, from its own streams and on the host. The arrays live on TensorFlow if new arrays
live there. NumPy's global state is also the state of the functions here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.front.namespace import missing_names, public_names
from np2tf.arrays.front.residency import are_host, new_arrays_are_tensors
from np2tf.core import late

__all__ = list(np.random.__all__)
__dir__ = public_names("numpy.random", globals())
__getattr__ = missing_names(globals(), "numpy.random")


def _is_on_numpy() -> bool:
    """Return whether arrays live on the host and nothing is staged."""
    return fast_flags.host and not new_arrays_are_tensors()


def _method(name: str, documented_function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of a generator that draws through the plain NumPy object."""

    @functools.wraps(documented_function)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        draw = getattr(self._plain, name)
        if _is_on_numpy() and are_host(args) and are_host(kwargs.values()):
            result = draw(*args, **kwargs)
            return args[0] if name == "shuffle" and args else result
        return late.arrays.random_draws.function(name, draw)(*args, **kwargs)

    return call


def _draw_methods(base: type) -> dict[str, Any]:
    """Return the methods that draw through the plain NumPy object, one for each public method of `base`."""
    return {
        name: _method(name, method)
        for name, method in vars(base).items()
        if not name.startswith("_") and callable(method) and name not in ("bit_generator", "spawn")
    }


class _NumPyGeneratorMeta(type):
    """A metaclass that makes NumPy's own generators if arrays are NumPy's, and lets ``isinstance`` accept
    them.
    """

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__mro__[1]) if cls.is_ours() else super().__instancecheck__(instance)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls.is_ours() and _is_on_numpy():
            return cls.__mro__[1](*args, **kwargs)
        if cls.is_ours():
            generator = late.arrays.random_draws.stage_generator(cls.__mro__[1], args, kwargs)
            if generator is not None:
                return generator
        return super().__call__(*args, **kwargs)

    def is_ours(cls) -> bool:
        """Return whether the class is defined in this module, and not derived from it by a program."""
        return cls.__module__ == __name__


class Generator(np.random.Generator, metaclass=_NumPyGeneratorMeta):
    """NumPy's Generator, whose arrays live where new arrays live.

    Args:
        bit_generator: NumPy's bit generator.

    See https://numpy.org/doc/stable/reference/random/generator.html.
    """

    def __init__(self, bit_generator: Any) -> None:
        super().__init__(bit_generator)
        self._plain = np.random.Generator(bit_generator)

    def __reduce__(self) -> tuple[Any, ...]:
        return Generator, (self.bit_generator,)

    def spawn(self, n_children: int) -> list[np.random.Generator]:
        """Return independent generators that follow from this generator.

        Args:
            n_children: the number of generators.

        Raises:
            StagingError: code is being staged.

        See https://numpy.org/doc/stable/reference/generated/numpy.random.Generator.spawn.html.
        """
        if not _is_on_numpy():
            late.arrays.random_draws.require_eager("Generator.spawn")
        return [Generator(plain.bit_generator) for plain in self._plain.spawn(n_children)]


class RandomState(np.random.RandomState, metaclass=_NumPyGeneratorMeta):
    """NumPy's RandomState, whose arrays live where new arrays live.

    Args:
        seed: the seed, as for NumPy.

    See https://numpy.org/doc/stable/reference/random/legacy.html.
    """

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed if _is_on_numpy() else late.arrays.random_draws.to_numpy(seed))
        self._plain = np.random.RandomState(self._bit_generator)

    def __reduce__(self) -> tuple[Any, ...]:
        _, arguments, state = self._plain.__reduce__()[:3]
        return RandomState, arguments, state

    def __getstate__(self) -> Any:
        return self._plain.__getstate__()

    def __setstate__(self, state: Any) -> None:
        self._plain.__setstate__(state)


for _class, _base in ((Generator, np.random.Generator), (RandomState, np.random.RandomState)):
    for _name, _wrapper in _draw_methods(_base).items():
        setattr(_class, _name, _wrapper)
