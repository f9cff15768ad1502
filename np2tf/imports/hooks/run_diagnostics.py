"""What translations that were made in this process could not do."""

from __future__ import annotations

import sys

from np2tf.diagnostics import Diagnostic


def diagnostics_met() -> list[Diagnostic]:
    """The findings in all modules that have been imported translated, by file and line."""
    if "np2tf.imports.hooks.loader" not in sys.modules:
        return []
    from np2tf.imports.hooks.loader import TranslatingLoader

    loaders = {id(loader): loader for loader in map(_loader, [*sys.modules.values()])}
    found = {
        finding
        for loader in loaders.values()
        if isinstance(loader, TranslatingLoader)
        for finding in loader.diagnostics
    }
    return sorted(found, key=lambda one: (one.path, one.line, one.column, one.code))


def _loader(module: object) -> object:
    # Some entries of sys.modules are no modules, and make attributes of whatever name.
    return getattr(module, "__dict__", {}).get("__loader__")
