"""The translation of one file, whatever goes wrong."""

from __future__ import annotations

from pathlib import Path

from np2tf.diagnostics import Diagnostic
from np2tf.disk.outcome import Outcome, problem, reason_of
from np2tf.facts import Facts
from np2tf.linking.summary import ModuleSummary
from np2tf.notebooks.magics import NoPlaceError
from np2tf.notebooks.notebook import SUFFIX, Notebook
from np2tf.options import Options
from np2tf.pipeline import translate
from np2tf.rewrites.control.fates import Fate, fates
from np2tf.rewrites.control.summaries import summarise
from np2tf.tree.safety import unsafe
from np2tf.tree.source import Source, SourceError


def translated(path: Path, root: Path, options: Options) -> Outcome:
    """Translate one file; whatever goes wrong becomes a diagnostic."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return Outcome(path, root, diagnostics=[problem("NP2TF906", path, error.strerror or str(error))])
    return translated_bytes(data, path, root, options)


def translated_bytes(data: bytes, path: Path, root: Path, options: Options, is_safe: bool = False) -> Outcome:
    """Translate the bytes of a file; with `is_safe`, have a second look at the translation."""
    if path.suffix == SUFFIX:
        return _notebook(data, path, root, options, is_safe)
    try:
        source = Source.of(data, str(path))
        made = translate(source, options)
        encoded = source.encoded(made.text)
        wrong = unsafe(source, made.text, made.touched, encoded) if is_safe else None
        if wrong is not None:
            return Outcome(path, root, data=data, diagnostics=[problem("NP2TF908", path, wrong)])
        found = (made.diagnostics, made.facts, made.suppressed)
        return Outcome(path, root, source.original, made.text, encoded, *found)
    except SourceError as error:
        return Outcome(path, root, data=data, diagnostics=[error.diagnostic])
    except Exception as error:  # one file must not stop the others; it is reported as np2tf's own fault
        return Outcome(path, root, data=data, diagnostics=[problem("NP2TF905", path, reason_of(error))])


def _notebook(data: bytes, path: Path, root: Path, options: Options, is_safe: bool) -> Outcome:
    """Translate the program that a notebook's cells are; all else in it stays as it is."""
    if options.target == "tf":  # Cells are run in any order, which no writes would be told in.
        refused = Diagnostic("NP2TF603", str(path), 1, 1, (("what", "a notebook"),))
        return Outcome(path, root, data=data, diagnostics=[refused])
    notebook = None
    try:
        notebook = Notebook.of(data, str(path))
        source = Source.of(notebook.text, str(path))
        made = translate(source, options)
        wrong = unsafe(source, made.text, made.touched, source.encoded(made.text)) if is_safe else None
        if wrong is not None:
            return Outcome(path, root, data=data, diagnostics=[problem("NP2TF908", path, wrong)])
        after = notebook.with_program(made.text) if made.changed else notebook.data
        told = (
            [notebook.in_cell(one) for one in made.diagnostics],
            None,
            [notebook.in_cell(one) for one in made.suppressed],
        )
        return Outcome(path, root, notebook.data, after, after.encode("utf-8"), *told)
    except SourceError as error:
        found = [error.diagnostic if notebook is None else notebook.in_cell(error.diagnostic)]
        return Outcome(path, root, data=data, diagnostics=found)
    except NoPlaceError as error:
        return Outcome(path, root, data=data, diagnostics=[problem("NP2TF909", path, str(error))])
    except Exception as error:  # as above
        return Outcome(path, root, data=data, diagnostics=[problem("NP2TF905", path, reason_of(error))])


def facts_of(outcome: Outcome) -> Facts | None:
    """What is known of a file, also where nothing in it can be translated; None for one that has failed."""
    if outcome.facts is not None or outcome.failed:
        return outcome.facts
    path = str(outcome.path)
    try:
        return Facts.of(Source.of(outcome.before, path).module, path)
    except (SourceError, RecursionError):
        return None


def summary_of(outcome: Outcome, options: Options) -> ModuleSummary | None:
    """What other files need to know of one; None if it has failed, or nothing in it can be translated."""
    if outcome.facts is None or outcome.failed:
        return None
    return summarise(outcome.facts, outcome.before, str(outcome.path), options)


def fates_of(outcome: Outcome, options: Options) -> list[Fate]:
    """What becomes of the functions of a file that have loops or compute with arrays."""
    facts = facts_of(outcome) if "def " in outcome.before else None
    return list(fates(facts, options, outcome.facts is not None)) if facts is not None else []
