"""The translation of modules that import one another, for `--target tf`.

A module that np2tf refuses stays on NumPy. The modules that import it convert the arrays that they exchange
with it; the modules that it imports stay on NumPy, too, because its calls do not convert.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from np2tf.core.diagnostics import Diagnostic, Report
from np2tf.core.late import not_collecting
from np2tf.translator.batch.one_file import outcome_of
from np2tf.translator.batch.outcome import Outcome, problem, reason_of
from np2tf.translator.facts.facts import Facts
from np2tf.translator.pipeline import Result, result_of
from np2tf.translator.rewrites.plan import Plan
from np2tf.translator.sources.names_between_files import Reexport
from np2tf.translator.sources.options import Options
from np2tf.translator.tensorflow.borders import Borders
from np2tf.translator.tensorflow.model import Program
from np2tf.translator.tensorflow.module_plan import (
    add_module,
    follow_to_borders,
    is_translated,
    plan_module,
    refused,
)
from np2tf.translator.tensorflow.shared_helpers import NAME, shared_path, shared_text
from np2tf.translator.tree.nodes import forget
from np2tf.translator.tree.source import Source, SourceError

_OPTIONS = Options(target="tf")


def translate_sources(
    sources: Sequence[Source],
    roots: Sequence[str],
    reexports_of_sources: Sequence[Sequence[Reexport]],
    staying: Collection[str] = (),
) -> list[Result]:
    """Translate modules that import one another; a refused module keeps its text, with the reasons.

    For each source, `roots` has the folder that its file was found under. The files in `staying` keep their
    text whatever is in them.
    """
    forget()
    try:
        return _translation(sources, roots, reexports_of_sources, staying)
    except RecursionError:
        return [
            Result(source.original, [Diagnostic("NP2TF903", source.path, 1, 1, ())]) for source in sources
        ]


def _translation(
    sources: Sequence[Source],
    roots: Sequence[str],
    reexports_of_sources: Sequence[Sequence[Reexport]],
    staying: Collection[str],
) -> list[Result]:
    files = [(source.path, root) for source, root in zip(sources, roots)]
    every_facts = [
        Facts.of(source.module, source.path, reexports)
        for source, reexports in zip(sources, reexports_of_sources)
    ]

    def make(borders: Borders) -> Program:
        program = Program(files, borders)
        for source, facts in zip(sources, every_facts):
            add_module(program, facts, source.path)
        return program

    fixed_files = {
        source.path
        for source, facts in zip(sources, every_facts)
        if source.path in staying or is_translated(facts)
    }
    borders = Borders()
    for file in fixed_files:
        borders.want("file", file)
    borders.take_wanted()
    while True:
        program = follow_to_borders(make, borders)
        reports = {source.path: Report.of(source.path, source.text) for source in sources}
        refused_files = fixed_files | {
            file
            for file, world in program.worlds.items()
            if file not in fixed_files and refused(world, reports[file])
        }
        for file in refused_files:
            borders.want("file", file)
        if not borders.take_wanted():
            break
    translated = [file for file in program.worlds if file not in refused_files]
    shared = shared_path(
        {file: world.facts for file, world in program.worlds.items()}, translated, dict(files)
    )
    helpers: set[str] = set()
    results = [
        _result(source, program, reports[source.path], refused_files, helpers, shared is not None)
        for source in sources
    ]
    if shared is None or not any(not name.startswith("[") for name in helpers):
        return results
    module = (str(shared), shared_text(helpers, shared))
    return [replace(result, shared_module=module) if result.changed else result for result in results]


def _result(
    source: Source,
    program: Program,
    report: Report,
    refused_files: Collection[str],
    helpers: set[str],
    is_shared: bool,
) -> Result:
    """Return the translation of one file, and add the helpers that it needs to `helpers`."""
    file, facts = source.path, program.worlds[source.path].facts
    if file in refused_files:
        return Result(source.original, list(report), facts=facts)
    plan = Plan(facts.parents, facts.compiler_nodes)
    helpers |= plan_module(program.worlds[file], plan, report, NAME if is_shared else "")
    return result_of(source, facts, plan, report, _OPTIONS)


def translate_program(
    files: Sequence[tuple[bytes, Path, Path]], options: Sequence[Options], is_safe: bool = False
) -> list[Outcome]:
    """Translate files (bytes, path and root) that import one another for `--target tf`.

    If the second look of `is_safe` finds one translation wrong, that file stays unchanged beside the others.
    """
    try:
        with not_collecting():
            return _translate_program(files, options, is_safe)
    except Exception as error:  # reported as a fault of np2tf
        return [
            Outcome(path, root, data=data, diagnostics=[problem("NP2TF905", path, reason_of(error))])
            for data, path, root in files
        ]


def _translate_program(
    files: Sequence[tuple[bytes, Path, Path]], options: Sequence[Options], is_safe: bool
) -> list[Outcome]:
    sources: dict[Path, Source] = {}
    outcomes: dict[Path, Outcome] = {}
    for data, path, root in files:
        try:
            sources[path] = Source.of(data, str(path))
        except SourceError as error:
            outcomes[path] = Outcome(path, root, data=data, diagnostics=[error.diagnostic])
    modules = [(file, file_options) for file, file_options in zip(files, options) if file[1] in sources]
    roots = [str(root) for (_, _, root), _ in modules]
    reexports = [file_options.reexports for _, file_options in modules]
    wrong: dict[Path, Outcome] = {}
    while True:
        staying = set(map(str, wrong))
        results = translate_sources(list(sources.values()), roots, reexports, staying)
        for ((data, path, root), file_options), result in zip(modules, results):
            outcomes[path] = outcome_of(sources[path], result, data, path, root, file_options, is_safe)
            if result.shared_module is not None and outcomes[path].changed:
                file, text = result.shared_module
                outcomes[path] = replace(outcomes[path], shared_module=(Path(file), text.encode()))
        more = {path: outcome for path, outcome in outcomes.items() if outcome.crashed}
        if more.keys() <= wrong.keys():
            break
        wrong |= more
    outcomes |= wrong
    return [outcomes[path] for _, path, _ in files]
