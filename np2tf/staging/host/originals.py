"""The functions from which translated functions were made: the host runs these originals.

A module that np2tf translates at import provides the code of its functions as in the source
(`np2tf.loading.code.originals`). The host tier of `np2tf.jit` runs this code instead of the translation.
Functions that are not jitted run it as well, while nothing is being staged and the program has no tensors:
the tensors of np2tf's compiled code never leave it.
"""

from __future__ import annotations

import functools
import importlib
import threading
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from np2tf.arrays.front.flags import fast_flags, when_host_changes
from np2tf.arrays.front.residency import surroundings
from np2tf.staging.host import replacement, watched_loops
from np2tf.staging.host.converted import is_converted
from np2tf.staging.process import tensorflow_import
from np2tf.staging.process.boundary import note_original

if TYPE_CHECKING:
    from np2tf.loading.findings import Originals


#: The globals that originals and translations need for their watched loops.
NAMES = replacement.NAMES
_original_of: WeakKeyDictionary[types.FunctionType, types.FunctionType] = WeakKeyDictionary()
#: id of translated code -> the code itself, which keeps the id valid, and its original.
_codes: dict[int, tuple[types.CodeType, types.CodeType]] = {}
#: The same for originals with watched loops.
_watched_codes: dict[int, tuple[types.CodeType, types.CodeType]] = {}
#: The functions that may run their originals, with the code of their translations and originals.
_standing_in: list[tuple[ref[types.FunctionType], types.CodeType, types.CodeType]] = []
#: id of the code of these originals -> their translations.
_translations: dict[int, types.CodeType] = {}
_lock = threading.Lock()
_ABSENT = object()
#: Types of attributes of a module or class that may contain a function.
_DESCRIPTORS = frozenset(
    {staticmethod, classmethod, property, functools.cached_property, type(functools.lru_cache(len))}
)


def remember_original(translation: types.FunctionType, original: types.FunctionType) -> None:
    """Record the original of a function that was translated in place."""
    _original_of[translation] = original


def add_originals(originals: Originals, names: dict[str, Any]) -> None:
    """Record the originals of a module that is about to be executed with these globals."""
    if originals.numpy != np.__version__:
        return  # the names found in that version may be missing in this version
    for name, path in originals.names:
        names[name] = below_numpy(path)
    for translation, original, _ in originals.pairs:
        _codes[id(translation)] = translation, original
        note_original(original)
    for translation, watched_code in originals.watched_codes:
        _watched_codes[id(translation)] = translation, watched_code
        note_original(watched_code)
    watched_loops.add_loops(originals.loops)


def original_of(function: Callable[..., Any]) -> types.FunctionType | None:
    """Return the function as in its source, with the same globals, closure and defaults; None if unknown."""
    if type(function) is not types.FunctionType:
        return None
    original = _original_of.get(function)
    pair = _codes.get(id(function.__code__)) if original is None else None
    return original if pair is None else _with_code(function, pair[1])


def watched_original_of(function: Callable[..., Any]) -> types.FunctionType | None:
    """Return the original with watched loops, which may be compiled while they run; None without loops."""
    if type(function) is not types.FunctionType:
        return None
    pair = _watched_codes.get(id(function.__code__))
    return None if pair is None else _with_code(function, pair[1])


def _with_code(function: types.FunctionType, code: types.CodeType) -> types.FunctionType | None:
    """Return a function with other code, and the same globals, closure and defaults."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    if not cells.keys() >= set(code.co_freevars):
        return None
    closure = tuple(cells[name] for name in code.co_freevars)
    result = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    result.__kwdefaults__ = function.__kwdefaults__
    result.__qualname__, result.__module__ = function.__qualname__, function.__module__
    return result


def below_numpy(path: tuple[str, ...]) -> Any:
    """Return the object at a path below `numpy`, and load its module if needed, or raise ImportError."""
    value: Any = np
    for k, name in enumerate(path):
        with warnings.catch_warnings():
            # The importing module's own import gives these warnings.
            warnings.simplefilter("ignore")
            member = getattr(value, name, _ABSENT)
        value = importlib.import_module(".".join(("numpy", *path[: k + 1]))) if member is _ABSENT else member
    return value


# -- functions that are not jitted ---------------------------------------------------------------------------


def use_originals(originals: Originals, module: types.ModuleType) -> None:
    """Let the functions of an executed module run their originals, until there may be tensors.

    A function whose call may last until then keeps its translation: a generator, or a function that makes
    functions.
    """
    if originals.numpy != np.__version__ or tensorflow_import.program.has_tensorflow:
        return
    pairs = {id(code): (code, original) for code, original, may_stand_in in originals.pairs if may_stand_in}
    if not pairs:
        return
    tensorflow_import.when_programs(_switch_code)
    with _lock:
        for function in _functions(vars(module), module.__name__, set()):
            pair = pairs.get(id(function.__code__))
            if pair is not None:
                translation, original = pair
                _translations[id(original)] = translation
                _standing_in.append((ref(function), translation, original))
    _switch_code()


def raised_of(function: types.FunctionType) -> types.FunctionType | None:
    """Return a function of a converted file with Python's loops and branches for np2tf's operators, and
    NumPy's functions for those of `tnp`.

    It switches to the converted code by itself as soon as there may be tensors. None if the file's text is
    not known, if nothing can be raised, or if there may be tensors already.
    """
    if tensorflow_import.program.has_tensorflow or surroundings.device_kind != "cpu":
        return None
    if not is_converted(function):
        return None
    # Loaded only here: most programs have no converted files.
    from np2tf.staging.host.raising.code import raised_code

    code = raised_code(function)
    result = None if code is None else _with_code(function, code)
    if code is None or result is None:
        return None
    tensorflow_import.when_programs(_switch_code)
    with _lock:
        _translations[id(code)] = function.__code__
        _standing_in[:] = [entry for entry in _standing_in if entry[0]() is not None]
        _standing_in.append((ref(result), function.__code__, code))
    _switch_code()
    return result


def _switch_code() -> None:
    """Let all these functions run their originals or their translations.

    They run their translations while something is being staged, and forever once the program may have
    tensors.
    """
    with _lock:
        for_good = tensorflow_import.program.has_tensorflow or surroundings.device_kind != "cpu"
        on_host = fast_flags.host and not for_good
        for reference, translation, original in _standing_in:
            function = reference()
            if function is not None:
                function.__code__ = original if on_host else translation
        if for_good:
            _standing_in.clear()


def translation_of(code: types.CodeType) -> types.CodeType:
    """Return the translation of original code; the code itself if it is no original."""
    return _translations.get(id(code), code)


def _functions(
    names: Mapping[str, Any], module: str, seen_classes: set[type]
) -> Iterator[types.FunctionType]:
    """Yield the functions in a module's globals, or a class's attributes, and in classes and descriptors
    there.
    """
    for value in list(names.values()):
        kind = type(value)
        if kind is types.FunctionType or kind in _DESCRIPTORS:
            yield from _functions_behind(value)
        elif isinstance(value, type) and value not in seen_classes and value.__module__ == module:
            seen_classes.add(value)
            yield from _functions(vars(value), module, seen_classes)


def _functions_behind(value: Any) -> Iterator[types.FunctionType]:
    """Yield a function, the function in a descriptor or property, and the functions that they wrap."""
    if isinstance(value, property):
        for accessor in (value.fget, value.fset, value.fdel):
            yield from _functions_behind(accessor)
        return
    if isinstance(value, functools.cached_property):
        value = value.func
    while type(value) is types.FunctionType or type(value) in _DESCRIPTORS:
        if type(value) is types.FunctionType:
            yield value
        value = getattr(value, "__wrapped__", None) or getattr(value, "__func__", None)


when_host_changes(_switch_code)
