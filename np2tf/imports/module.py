"""`np2tf.import_module`: one module or package, translated."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import types

from np2tf.imports.hook import translating
from np2tf.imports.loader import TranslatingLoader
from np2tf.options import Options


def import_module(
    name: str, path: str | os.PathLike[str] | None = None, options: Options | None = None
) -> types.ModuleType:
    """Import a module translated, without touching its file.

    Args:
        name: the module's name; of a package the submodules that it imports are translated too.
        path: the source file, for a module that is not on ``sys.path``. It is not entered into
        ``sys.modules``. options: of the translation.

    A module of this name that has been imported before stays what it is for everybody else.

    Raises:
        ImportError: there is no such module.
    """
    if path is not None:
        loader = TranslatingLoader(name, os.fspath(path), options)
        spec = importlib.util.spec_from_file_location(name, path, loader=loader)
        if spec is None or not os.path.exists(path):
            raise ImportError(f"np2tf: there is no Python source file {os.fspath(path)}", name=name)
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
        return module
    before = {
        key: sys.modules.pop(key) for key in list(sys.modules) if key == name or key.startswith(f"{name}.")
    }
    try:
        with translating(name, options=options):
            return importlib.import_module(name)
    finally:
        if before:
            for key in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
                del sys.modules[key]
            sys.modules.update(before)
