"""What becomes of the functions of all files of a project, each judged by what it calls in the others too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from np2tf.diagnostics import Diagnostic, Report
from np2tf.disk.outcome import Outcome
from np2tf.files import facts_of, fates_of, translated
from np2tf.linking.acting import Linked
from np2tf.options import Options
from np2tf.rewrites.control.fates import HOST, PLAIN, Fate
from np2tf.rewrites.control.summaries import summarise
from np2tf.summary import ModuleSummary


def linked_findings(linked: Linked, summary: ModuleSummary, text: str) -> Iterator[Diagnostic]:
    """The functions of a file that are jitted, and whose calls run on the host for what a callee does.

    Args:
        linked: the project.
        summary: of the file.
        text: of the file, whose comments may silence findings.
    """
    report = Report.of(summary.path, text)
    for function in summary.functions.values():
        why = linked.why(summary.path, function.name) if function.is_staged else None
        if why is not None:
            report.add("NP2TF402", function.line, 1, name=function.name.rpartition(".")[2], reason=why)
    yield from report


def summary_of_plain(path: str, text: str, options: Options) -> ModuleSummary | None:
    """The summary of a file in which nothing is to be translated; None if it cannot be parsed."""
    facts = facts_of(Outcome(Path(path), Path(path).parent, text))
    return summarise(facts, text, path, options) if facts is not None else None


class Project:
    """The files that one command is given.

    Args:
        files: each with the folder that it was found under.
        with_fates: whether `fates` will be asked.
    """

    def __init__(self, files: Sequence[tuple[Path, Path]], with_fates: bool = False) -> None:
        self._files = files
        self._options = Options()
        self._with_fates = with_fates
        self._summaries: dict[str, ModuleSummary] = {}
        self._fates: dict[Path, list[Fate]] = {}
        self._texts: dict[str, str] = {}
        self._plain: dict[str, str] = {}
        self._linked: Linked | None = None

    def outcomes(self) -> Iterator[Outcome]:
        """Each file's translation. What is known of a file takes much more memory than its text, so that only
        its summary is kept."""
        for path, root in self._files:
            outcome = translated(path, root, self._options)
            if outcome.facts is not None and not outcome.failed:
                summary = summarise(outcome.facts, outcome.before, str(path), self._options)
                self._summaries[str(path)] = summary
                if any(one.is_staged for one in summary.functions.values()):
                    self._texts[str(path)] = outcome.before
            elif not outcome.failed:
                self._plain[str(path)] = outcome.before
            if self._with_fates:
                self._fates[path] = fates_of(outcome, self._options)
            yield replace(outcome, facts=None)

    def findings(self) -> Iterator[Diagnostic]:
        """The functions that are jitted, and whose calls run on the host for what a callee does elsewhere."""
        linked = self._joined()
        for path, text in self._texts.items():
            yield from linked_findings(linked, self._summaries[path], text)

    def fates(self) -> Iterator[tuple[Path, Fate]]:
        """What becomes of each function, in the order of the files; all of them have been translated."""
        linked = self._joined()
        for path, found in self._fates.items():
            for one in found:
                why = linked.why(str(path), one.name) if one.fate != PLAIN else None
                by_callee = one.fate != HOST or "which cannot be staged" in one.reason
                yield path, replace(one, fate=HOST, reason=why) if why is not None and by_callee else one

    def _joined(self) -> Linked:
        if self._linked is None:
            files = [(str(path), str(root)) for path, root in self._files]
            known = list(self._summaries.values())
            self._linked = Linked(files, known, self._read, self._deriving_from)
        return self._linked

    def _read(self, path: str) -> ModuleSummary | None:
        """The summary of a file in which nothing is to be translated; it is made when a name leads there."""
        return summary_of_plain(path, self._plain[path], self._options) if path in self._plain else None

    def _deriving_from(self, name: str) -> Iterator[str]:
        """The files in which nothing is to be translated, and which derive a class from one of that name."""
        head = re.compile(rf"^class \w+\([^)]*\b{name}\b", re.MULTILINE)
        return (path for path, text in self._plain.items() if head.search(text))
