"""`@np2tf.translate`: translates one function or class in place."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar, overload

from np2tf.loading.findings import Finding, UntranslatableError, content_of, tell
from np2tf.loading.import_hook import TranslatingLoader
from np2tf.translator.sources.options import Options

T = TypeVar("T")
Make = Callable[[types.FunctionType], Any]


@overload
def translate(target: T, *, options: Options | None = None) -> T: ...
@overload
def translate(target: None = None, *, options: Options | None = None) -> Callable[[T], T]: ...
def translate(target: Any = None, *, options: Options | None = None) -> Any:
    """Translate a function, or the methods of a class, in files, notebooks and wherever the source is
    available.

    Closures, defaults, annotations and the decorators around the target stay unchanged. A target that cannot
    be translated is returned unchanged, with a `TranslationWarning` that says why. Control flow that can be
    compiled is compiled as with `np2tf.jit`.

    Args:
        target: a function, method, property, cached function or class; None to use the result as a decorator.
        options: the options of the translation, see `np2tf.Options`; None for the defaults.

    Returns:
        The translated function, or the class itself with its methods replaced. For a target of None, a
        decorator.
    """
    if target is None:
        return functools.partial(translate, options=options)
    functions: list[types.FunctionType] = []
    try:
        _rebuild(target, lambda function: _note_original(function, functions))
        if not functions or all(map(_is_translated, functions)):
            return target
        # Imported only if there is something to translate, because it loads the translator.
        from np2tf.loading.functions.new_functions import translations
        from np2tf.staging.host.originals import remember_original

        new, findings = translations(functions, options or Options())
        tell(findings)
        for old, translation in new.items():
            remember_original(getattr(translation, "__wrapped__", translation), old)
        return _rebuild(target, lambda function: new.get(function, function)) if new else target
    except UntranslatableError as reason:
        path, line = _place(target, functions)
        name = getattr(target, "__qualname__", type(target).__name__)
        tell(
            [Finding.create("NP2TF942", path, line, name=name, reason=str(reason))], "; it runs untranslated"
        )
        return target


def _note_original(function: types.FunctionType, functions: list[types.FunctionType]) -> types.FunctionType:
    functions.append(function)
    return function


def _is_translated(function: types.FunctionType) -> bool:
    """Return whether the function's whole module is already translated."""
    module = sys.modules.get(function.__module__ or "")
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    return isinstance(loader, TranslatingLoader) and loader.translated is True


def _place(target: Any, functions: list[types.FunctionType]) -> tuple[str, int]:
    function = functions[0] if functions else getattr(target, "__wrapped__", target)
    code = getattr(function, "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code is not None else ("<unknown>", 1)


def _rebuild(target: Any, make: Make) -> Any:
    """Return `target` with `make` applied to its functions; raise UntranslatableError for an unknown kind."""
    if isinstance(target, type):
        return _class(target, make)
    if isinstance(target, (staticmethod, classmethod)):
        return type(target)(_rebuild(target.__func__, make))
    if isinstance(target, property):
        getter, setter, deleter = (
            part and _rebuild(part, make) for part in (target.fget, target.fset, target.fdel)
        )
        return type(target)(getter, setter, deleter, target.__doc__)
    if isinstance(target, functools.cached_property):
        target.func = _rebuild(target.func, make)
        return target
    if type(target) is types.FunctionType:
        return _under_wrapper(target, make) if hasattr(target, "__wrapped__") else make(target)
    inner = getattr(target, "__wrapped__", None)
    if inner is not None and hasattr(target, "cache_parameters"):
        return functools.lru_cache(**target.cache_parameters())(_rebuild(inner, make))
    if inner is not None and type(target).__module__.startswith("np2tf."):
        return target
    raise UntranslatableError(f"it is a {type(target).__name__}, not a function or class")


def _under_wrapper(wrapper: types.FunctionType, make: Make) -> types.FunctionType:
    """Replace the function that a decorator's wrapper holds in its closure, and return the wrapper."""
    inner: Any = wrapper.__wrapped__  # type: ignore[attr-defined]
    cells = [cell for cell in wrapper.__closure__ or () if content_of(cell) is inner]
    if not cells:
        raise UntranslatableError("a decorator below has replaced it")
    new = _rebuild(inner, make)
    for cell in cells:
        cell.cell_contents = new
    wrapper.__wrapped__ = new  # type: ignore[attr-defined]
    return wrapper


#: `blocks` removes decorators with this attribute, so that they do not prevent a rewrite.
translate.is_removed_from_blocks = True  # type: ignore[attr-defined]


_MEMBERS = (types.FunctionType, staticmethod, classmethod, property, functools.cached_property)


def _class(target: type, make: Make) -> type:
    for name, value in list(vars(target).items()):
        if isinstance(value, type):
            if value.__qualname__ == f"{target.__qualname__}.{value.__name__}":
                _class(value, make)
            continue
        if not isinstance(value, _MEMBERS) and not hasattr(value, "cache_parameters"):
            continue
        try:
            new = _rebuild(value, make)
        except UntranslatableError:
            continue  # a method under a decorator of its own kind stays as it is
        if new is not value:
            setattr(target, name, new)
    return target
