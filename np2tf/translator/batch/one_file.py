"""Translation of one file. Every failure becomes a diagnostic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Set
from dataclasses import replace
from pathlib import Path

from np2tf.core.late import not_collecting
from np2tf.translator.batch.outcome import Outcome, problem, reason_of
from np2tf.translator.control.fates import Fate, fates
from np2tf.translator.control.summaries import summarise
from np2tf.translator.documents import SUFFIXES, UnsafeError, translated_page, with_doctests
from np2tf.translator.facts.facts import Facts
from np2tf.translator.linking.summary import ModuleSummary
from np2tf.translator.notebooks import SUFFIX, NoPlaceError, Notebook
from np2tf.translator.pipeline import Result, mended, translate
from np2tf.translator.rewrites.uses import uses
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.safety import unsafe
from np2tf.translator.tree.source import Source, SourceError


def translate_bytes(data: bytes, path: Path, root: Path, options: Options, is_safe: bool = False) -> Outcome:
    """Translate a file's bytes, with a second look if `is_safe`; a failure becomes a diagnostic."""
    return _attempt(lambda: _translate_bytes(data, path, root, options, is_safe), data, path, root)


def _translate_bytes(data: bytes, path: Path, root: Path, options: Options, is_safe: bool) -> Outcome:
    if path.suffix == SUFFIX:
        return _notebook(data, path, root, options, is_safe)
    if options.docs and path.suffix in SUFFIXES:
        return _page(data, path, root, options)
    source = Source.of(data, str(path))
    return outcome_of(source, translate(source, options), data, path, root, options, is_safe)


def _attempt(work: Callable[[], Outcome], data: bytes, path: Path, root: Path) -> Outcome:
    """Return an outcome; a failure becomes a diagnostic, and leaves the file as it is."""
    try:
        with not_collecting():
            return work()
    except SourceError as error:
        finding = error.diagnostic
    except UnsafeError as error:
        finding = problem("NP2TF908", path, str(error))
    except NoPlaceError as error:
        finding = problem("NP2TF909", path, str(error))
    except (
        Exception
    ) as error:  # one file must not stop other files; the error is reported as a fault of np2tf
        finding = problem("NP2TF905", path, reason_of(error))
    return Outcome(path, root, data=data, diagnostics=[finding])


def outcome_of(
    source: Source, result: Result, data: bytes, path: Path, root: Path, options: Options, is_safe: bool
) -> Outcome:
    """Return the outcome of a file that has been translated."""
    new_data = source.bytes_of(result.text)
    wrong = unsafe(source, result.text, result.touched_nodes, new_data) if is_safe else None
    if wrong is not None:
        return Outcome(path, root, data=data, diagnostics=[problem("NP2TF908", path, wrong)])
    if options.docs:
        result = _with_doctests(source, result, options)
        new_data = source.bytes_of(result.text)
    fields = (result.diagnostics, result.facts, result.suppressed_findings)
    return Outcome(path, root, source.original, result.text, new_data, *fields)


def _with_doctests(source: Source, result: Result, options: Options) -> Result:
    """Return a translation in which the doctests of the docstrings are also translated."""
    text, further = with_doctests(source.original, result.text, source.path, options)
    findings = sorted([*result.diagnostics, *further], key=lambda finding: (finding.line, finding.column))
    return replace(result, text=text, changed=text != source.original, diagnostics=findings)


def _page(data: bytes, path: Path, root: Path, options: Options) -> Outcome:
    """Translate the blocks of code in a page; the rest of the page does not change."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return Outcome(path, root, data=data, diagnostics=[problem("NP2TF902", path, str(error))])
    after, findings = translated_page(text, str(path), options)
    return Outcome(path, root, text, after, after.encode("utf-8"), findings)


def _notebook(data: bytes, path: Path, root: Path, options: Options, is_safe: bool) -> Outcome:
    """Translate the program that a notebook's code cells form. Other cells and metadata stay unchanged."""
    notebook = Notebook.of(data, str(path))
    try:
        source = Source.of(notebook.text, str(path))
        result = translate(source, options)
    except SourceError as error:
        return Outcome(path, root, data=data, diagnostics=[notebook.in_cell(error.diagnostic)])
    wrong = None
    if is_safe:
        wrong = unsafe(source, result.text, result.touched_nodes, source.bytes_of(result.text))
    if wrong is not None:
        return Outcome(path, root, data=data, diagnostics=[problem("NP2TF908", path, wrong)])
    after = notebook.with_program(result.text) if result.changed else notebook.data
    return Outcome(
        path,
        root,
        notebook.data,
        after,
        after.encode("utf-8"),
        notebook.in_cells(result.diagnostics),
        result.facts,
        notebook.in_cells(result.suppressed_findings),
        notebook=notebook,
    )


def mend_bytes(data: bytes, path: Path, root: Path, places: Set[tuple[int, int]]) -> Outcome:
    """Write the removed names of NumPy at these places as NumPy spells them now, and translate nothing.

    Args:
        places: lines and columns; of a notebook, in the program that its cells form.
    """
    return _attempt(lambda: _mend_bytes(data, path, root, places), data, path, root)


def _mend_bytes(data: bytes, path: Path, root: Path, places: Set[tuple[int, int]]) -> Outcome:
    notebook = Notebook.of(data, str(path)) if path.suffix == SUFFIX else None
    source = Source.of(data if notebook is None else notebook.text, str(path))
    result = mended(source, places)
    new_data = source.bytes_of(result.text)
    wrong = unsafe(source, result.text, result.touched_nodes, new_data)
    if wrong is not None:
        raise UnsafeError(wrong)
    if notebook is None:
        return Outcome(path, root, source.original, result.text, new_data)
    after = notebook.with_program(result.text)
    return Outcome(path, root, notebook.data, after, after.encode("utf-8"), notebook=notebook)


def is_module(path: Path) -> bool:
    """Return whether other files can import a file: a notebook or a page is not a module."""
    return path.suffix not in (SUFFIX, *SUFFIXES)


def facts_of(outcome: Outcome, options: Options) -> Facts | None:
    """Return a file's facts, even if nothing in it can be translated; None if its translation failed."""
    if outcome.facts is not None or outcome.failed:
        return outcome.facts
    path = str(outcome.path)
    text = outcome.notebook.text if outcome.notebook is not None else outcome.before
    try:
        module = Source.of(text, path).module
        return Facts.of(module, path, options.reexports, leaves_foreign=options.leaves_foreign)
    except (SourceError, RecursionError):
        return None


def summary_of(outcome: Outcome, options: Options) -> ModuleSummary | None:
    """Return a file's summary; None if its translation failed, or nothing in it can be translated, or it is
    no module.
    """
    if outcome.facts is None or outcome.failed or not is_module(outcome.path):
        return None
    return summarise(outcome.facts, outcome.before, str(outcome.path), options)


def fates_of(outcome: Outcome, options: Options) -> list[Fate]:
    """Return the fates of a file's functions that have loops or compute with arrays."""
    facts = facts_of(outcome, options) if "def " in outcome.before else None
    if facts is None:
        return []
    found = list(fates(facts, options, outcome.facts is not None))
    return found if outcome.notebook is None else [fate.in_cell(outcome.notebook) for fate in found]


def names_of(outcome: Outcome) -> Counter[str]:
    """Return how often a file uses each NumPy name; modules themselves are not counted."""
    if outcome.facts is None:
        return Counter()
    return Counter(use.qualified_name for use in uses(outcome.facts) if not use.is_module)
