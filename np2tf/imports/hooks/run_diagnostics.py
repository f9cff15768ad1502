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
    diagnostics = {finding for loader in loaders for finding in loader.diagnostics}
    return sorted(
        diagnostics.union(_linked_diagnostics(loaders)),
        key=lambda diagnostic: (diagnostic.path, diagnostic.line, diagnostic.column, diagnostic.code),
    )


def _loaders() -> Iterator[TranslatingLoader]:
    from np2tf.imports.hooks.loader import TranslatingLoader

    # Some entries of sys.modules are no modules, and have attributes of any name.
    candidates = (getattr(module, "__dict__", {}).get("__loader__") for module in [*sys.modules.values()])
    loaders = {id(loader): loader for loader in candidates if isinstance(loader, TranslatingLoader)}
    yield from loaders.values()


def _linked_diagnostics(loaders: Sequence[TranslatingLoader]) -> Iterator[Diagnostic]:
    """Yield findings about functions whose callees in other modules cannot be staged."""
    from np2tf.linking.acting_functions import LinkedProject
    from np2tf.project import linked_report, summary_of_plain

    summaries = [pickle.loads(loader.summary) for loader in loaders if loader.summary]
    if not any(function.is_staged for summary in summaries for function in summary.functions.values()):
        return
    plain = {loader.path: loader.options for loader in loaders if not loader.summary}

    def read(path: str) -> ModuleSummary | None:
        return summary_of_plain(path, _text(path), plain[path]) if path in plain else None

    project = LinkedProject(
        [(loader.path, _root(loader.path, loader.name)) for loader in loaders], summaries, read
    )
    for summary in summaries:
        yield from linked_report(project, summary, _text(summary.path))


def _text(path: str) -> str:
    return "".join(linecache.getlines(path))


def _root(path: str, name: str) -> str:
    """Return the folder from which a module of this name is imported."""
    place = PurePath(path)
    module = place.parent if place.name == "__init__.py" else place
    return str(module.parents[name.count(".")])
