"""`np2tf.import_module`: imports one module or package, translated."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager

from np2tf.imports.hooks.hook import install, translating
from np2tf.imports.hooks.loader import TranslatingLoader
from np2tf.options import Options

_ABSENT = object()


def import_module(
    name: str | os.PathLike[str], path: str | os.PathLike[str] | None = None, options: Options | None = None
) -> types.ModuleType:
    """Import a module translated, without changing its file.

    If the module is already imported, other modules keep their untranslated module.

    Args:
        name: the module's name, or the path of a source file or package folder. The modules in a package are
            translated too.
        path: the source file, for a module that is not on `sys.path` and is to have this name. Such a module
            is in `sys.modules` only while it is loaded.
        options: the options of the translation, see `np2tf.Options`; None for the defaults.

    Returns:
        The translated module.

    Raises:
        ImportError: if there is no such module.

    See https://docs.python.org/3/library/importlib.html#importlib.import_module.
    """
    if path is None and (not isinstance(name, str) or name.endswith(".py") or os.sep in name):
        path = os.fspath(name)
        name = os.path.splitext(os.path.basename(os.path.abspath(path)))[0]
    name = os.fspath(name)
    if path is not None and not os.path.isdir(path):
        return _from_file(name, os.path.abspath(path), options)
    if path is not None:
        with _first_on_path(os.path.dirname(os.path.abspath(path))):
            return _by_name(os.path.basename(os.path.abspath(path)), options)
    return _by_name(name, options)


def _by_name(name: str, options: Options | None) -> types.ModuleType:
    before = {key: module for key, module in sys.modules.items() if _is_in(key, name)}
    if not before:
        # All importers get this module from now on, with the modules in it that are imported later.
        finder = install([name], options=options)
        try:
            return importlib.import_module(name)
        except BaseException:
            if finder in sys.meta_path:
                sys.meta_path.remove(finder)
            raise
    parent, _, last = name.rpartition(".")
    attribute = getattr(sys.modules.get(parent), last, _ABSENT)
    for key in before:
        del sys.modules[key]
    try:
        with translating(name, options=options):
            return importlib.import_module(name)
    finally:
        for key in [key for key in sys.modules if _is_in(key, name)]:
            del sys.modules[key]
        sys.modules.update(before)
        if attribute is not _ABSENT:
            setattr(sys.modules[parent], last, attribute)


def _is_in(key: str, package: str) -> bool:
    return key == package or key.startswith(f"{package}.")


def _from_file(name: str, path: str, options: Options | None) -> types.ModuleType:
    loader = TranslatingLoader(name, path, options)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None or not os.path.exists(path):
        raise ImportError(f"np2tf: there is no Python source file {path}", name=name)
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    # Dataclasses and pickle look a module up by its name while it runs.
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    finally:
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before
    return module


@contextmanager
def _first_on_path(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)
