"""The findings about the translations that this process has made."""

from __future__ import annotations

import linecache
import pickle
import sys
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from np2tf.diagnostics import Diagnostic

if TYPE_CHECKING:
    from np2tf.imports.hooks.loader import TranslatingLoader
    from np2tf.linking.summary import ModuleSummary


def diagnostics_met() -> list[Diagnostic]:
    """Return the findings in all modules that were imported translated, by file and line.

    The modules' summaries are joined, so that the findings include functions whose calls run on the host
    because of a function in another module.
    """
    if "np2tf.imports.hooks.loader" not in sys.modules:
        return []
    loaders = list(_loaders())
    found = {finding for loader in loaders for finding in loader.diagnostics}
    return sorted(
        found.union(_linked_diagnostics(loaders)), key=lambda one: (one.path, one.line, one.column, one.code)
    )


def _loaders() -> Iterator[TranslatingLoader]:
    from np2tf.imports.hooks.loader import TranslatingLoader

    # Some entries of sys.modules are no modules, and have attributes of any name.
    found = (getattr(module, "__dict__", {}).get("__loader__") for module in [*sys.modules.values()])
    seen = {id(one): one for one in found if isinstance(one, TranslatingLoader)}
    yield from seen.values()


def _linked_diagnostics(loaders: Sequence[TranslatingLoader]) -> Iterator[Diagnostic]:
    """Yield findings about functions whose callees in other modules cannot be staged."""
    from np2tf.linking.acting_functions import LinkedProject
    from np2tf.project import linked_report, summary_of_plain

    summaries = [pickle.loads(one.summary) for one in loaders if one.summary]
    if not any(function.is_staged for one in summaries for function in one.functions.values()):
        return
    plain = {one.path: one.options for one in loaders if not one.summary}

    def read(path: str) -> ModuleSummary | None:
        return summary_of_plain(path, _text(path), plain[path]) if path in plain else None

    linked = LinkedProject([(one.path, _root(one.path, one.name)) for one in loaders], summaries, read)
    for summary in summaries:
        yield from linked_report(linked, summary, _text(summary.path))


def _text(path: str) -> str:
    return "".join(linecache.getlines(path))


def _root(path: str, name: str) -> str:
    """Return the folder from which a module of this name is imported."""
    place = PurePath(path)
    module = place.parent if place.name == "__init__.py" else place
    return str(module.parents[name.count(".")])
