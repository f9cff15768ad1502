"""The fates and findings of a project's files; callees in other files count in judging a function."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from np2tf.core.diagnostics import Diagnostic, Report
from np2tf.translator.batch.batch import Task, grouped, outcomes_of, with_shared_names
from np2tf.translator.batch.one_file import facts_of, fates_of, is_module, names_of, summary_of
from np2tf.translator.batch.outcome import Outcome, problem, reason_of
from np2tf.translator.control.fates import HOST, PLAIN, Fate
from np2tf.translator.control.summaries import summarise
from np2tf.translator.linking.acting_functions import LinkedProject
from np2tf.translator.linking.summary import ModuleSummary
from np2tf.translator.sources.options import Options


@dataclass(frozen=True)
class _FileFacts:
    """The facts that one file tells by itself."""

    path: Path
    outcome: Outcome
    summary: ModuleSummary | None = None
    fates: list[Fate] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)


def linked_report(project: LinkedProject, summary: ModuleSummary, text: str) -> Report:
    """Report jitted functions that callees elsewhere keep on the host; comments in `text` may hide them."""
    report = Report.of(summary.path, text)
    for function in summary.functions.values():
        why = project.why(summary.path, function.name) if function.is_staged else None
        if why is not None:
            name = function.name.rpartition(".")[2]
            report.add("NP2TF402", *_place_of(text, function.line, name), name=name, reason=why)
    return report


def summary_of_plain(path: str, text: str, options: Options) -> ModuleSummary | None:
    """Return the summary of a file in which nothing can be translated; None if it cannot be parsed."""
    facts = facts_of(Outcome(Path(path), Path(path).parent, text), options)
    return summarise(facts, text, path, options) if facts is not None else None


class Project:
    """The files of one command, each with the folder that it was found under.

    `with_fates` says that `fates` will be called; `contents` has the files that standard input gives.
    """

    def __init__(
        self,
        files: Sequence[tuple[Path, Path]],
        with_fates: bool = False,
        options_of: Callable[[Path], Options] = lambda path: Options(),
        contents: Mapping[Path, bytes] | None = None,
    ) -> None:
        self._files = files
        self._contents = contents or {}
        self._options_of = options_of
        self._with_fates = with_fates
        self._summaries: dict[str, ModuleSummary] = {}
        self._fates: dict[Path, list[Fate]] = {}
        #: With fates: how often each file uses each NumPy name.
        self.names: dict[Path, Counter[str]] = {}
        self._texts: dict[str, str] = {}
        self._plain: dict[str, str] = {}
        self._linked_project: LinkedProject | None = None

    def outcomes(self, jobs: int = 1) -> Iterator[Outcome]:
        """Yield each file's translation, in the order of the files; this process joins their summaries."""
        from np2tf.translator.batch.workers import in_order

        facts_by_file: dict[Path, _FileFacts] = {}
        tasks: list[Task] = []
        for path, root in self._files:
            try:
                data = self._contents[path] if path in self._contents else path.read_bytes()
                tasks.append(Task(path, root, data, self._options_of(path), is_safe=False))
            except OSError as error:
                finding = problem("NP2TF906", path, error.strerror or str(error))
                facts_by_file[path] = _FileFacts(path, Outcome(path, root, diagnostics=[finding]))
        groups = grouped(with_shared_names(tasks, are_bound=False))
        work = partial(_read_group, with_fates=self._with_fates)
        with closing(in_order(work, _crash_results, groups, max(1, min(jobs, len(groups))))) as results:
            for path, _ in self._files:
                while path not in facts_by_file:
                    facts_by_file.update((facts.path, facts) for facts in next(results))
                result = facts_by_file.pop(path)
                if not result.outcome.failed:
                    self.add(result.path, result.summary, result.outcome.before)
                self._fates[result.path] = result.fates
                self.names[result.path] = result.names
                yield result.outcome

    def add(self, path: Path, summary: ModuleSummary | None, text: str) -> None:
        """Record a file; its summary is None if nothing in it can be translated."""
        if summary is not None:
            self._summaries[str(path)] = summary
            if any(function.is_staged for function in summary.functions.values()):
                self._texts[str(path)] = text
        elif is_module(path):
            self._plain[str(path)] = text

    def findings(self) -> Iterator[Diagnostic]:
        """Yield findings about jitted functions that a callee in another place keeps on the host."""
        for report in self.reports():
            yield from report

    def reports(self) -> Iterator[Report]:
        """Yield a report with these findings for each file, including findings that comments hide."""
        project = self._link()
        for path, text in self._texts.items():
            yield linked_report(project, self._summaries[path], text)

    def fates(self) -> Iterator[tuple[Path, Fate]]:
        """Yield each function's fate, in the order of the files, once `outcomes` has translated all."""
        project = self._link()
        for path, fates in self._fates.items():
            for fate in fates:
                why = project.why(str(path), fate.name) if fate.fate != PLAIN else None
                by_callee = fate.fate != HOST or "which cannot be compiled" in fate.reason
                yield path, replace(fate, fate=HOST, reason=why) if why is not None and by_callee else fate

    def _link(self) -> LinkedProject:
        if self._linked_project is None:
            files = [(str(path), str(root)) for path, root in self._files if is_module(path)]
            summaries = list(self._summaries.values())
            self._linked_project = LinkedProject(
                files, summaries, self._summary_of_plain, self._deriving_from
            )
        return self._linked_project

    def _summary_of_plain(self, path: str) -> ModuleSummary | None:
        """Return the summary of a file without translatable code, made when a reference leads to it."""
        if path not in self._plain:
            return None
        return summary_of_plain(path, self._plain[path], self._options_of(Path(path)))

    def _deriving_from(self, name: str) -> Iterator[str]:
        """Yield the files without anything to translate that derive a class from a class of this name."""
        head = re.compile(rf"^class \w+\([^)]*\b{name}\b", re.MULTILINE)
        return (path for path, text in self._plain.items() if head.search(text))


def _read_group(tasks: Sequence[Task], with_fates: bool) -> list[_FileFacts]:
    """Translate files that are translated together, and summarise them."""
    return [_file_facts(outcome, task, with_fates) for outcome, task in zip(outcomes_of(tasks), tasks)]


def _file_facts(outcome: Outcome, task: Task, with_fates: bool) -> _FileFacts:
    """Return a translated file's facts, without those about its nodes, which take much memory."""
    summary = summary_of(outcome, task.options)
    fates = fates_of(outcome, task.options) if with_fates else []
    names = names_of(outcome) if with_fates else Counter()
    return _FileFacts(outcome.path, replace(outcome, facts=None, notebook=None), summary, fates, names)


def _crash_results(tasks: Sequence[Task], error: BaseException) -> list[_FileFacts]:
    return [
        _FileFacts(
            task.path,
            Outcome(task.path, task.root, diagnostics=[problem("NP2TF905", task.path, reason_of(error))]),
        )
        for task in tasks
    ]


def _place_of(text: str, line: int, name: str) -> tuple[int, int, tuple[int, int] | None]:
    """Return the place of a function's definition, and the place where its name ends."""
    header = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")[line - 1]
    match = re.match(rf"(\s*)[^#]*?\bdef\s+{re.escape(name)}\b", header)
    return (line, len(match[1]) + 1, (line, match.end() + 1)) if match is not None else (line, 1, None)
