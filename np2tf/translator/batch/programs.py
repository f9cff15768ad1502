"""The translation of modules that import one another, for `--target tf`: all of them, or none.

A module that stays on NumPy must not get tensors, and a translated module must not get arrays. So if np2tf
refuses a module, it also refuses the modules that import it or that it imports. A module without arrays is an
exception: if neither it nor a module that it imports uses NumPy, it may stay as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
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
from np2tf.translator.tensorflow.model import Program
from np2tf.translator.tensorflow.module_plan import add_module, follow, is_translated, plan_module, refused
from np2tf.translator.tensorflow.shared_helpers import NAME, shared_path, shared_text
from np2tf.translator.tree.nodes import forget
from np2tf.translator.tree.source import Source, SourceError

_OPTIONS = Options(target="tf")


def translate_sources(
    sources: Sequence[Source], roots: Sequence[str], reexports_of_sources: Sequence[Sequence[Reexport]]
) -> list[Result]:
    """Translate modules that import one another; a refused module keeps its text, with the reasons.

    For each source, `roots` has the folder that its file was found under.
    """
    forget()
    try:
        return _translation(sources, roots, reexports_of_sources)
    except RecursionError:
        return [
            Result(source.original, [Diagnostic("NP2TF903", source.path, 1, 1, ())]) for source in sources
        ]


def _translation(
    sources: Sequence[Source], roots: Sequence[str], reexports_of_sources: Sequence[Sequence[Reexport]]
) -> list[Result]:
    files = [(source.path, root) for source, root in zip(sources, roots)]
    foreign_files: frozenset[str] = frozenset()
    every_facts = [
        Facts.of(source.module, source.path, reexports)
        for source, reexports in zip(sources, reexports_of_sources)
    ]
    while True:
        program = Program(files, foreign_files)
        for source, facts in zip(sources, every_facts):
            add_module(program, facts, source.path)
        follow(program)
        reports = {source.path: Report.of(source.path, source.text) for source in sources}
        refused_files = {
            file for file, world in program.worlds.items() if refused(world, reports[file])
        } - foreign_files
        without_arrays = refused_files & _without_numpy(program)
        if not without_arrays:
            break
        foreign_files |= without_arrays
    causes = _causes(program, refused_files)
    translated = [file for file in program.worlds if file not in causes and file not in program.foreign_files]
    every_world_facts = {file: world.facts for file, world in program.worlds.items()}
    shared = shared_path(every_world_facts, translated, dict(files))
    helpers: set[str] = set()
    results = [
        _result(source, program, reports[source.path], causes, helpers, shared is not None)
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
    causes: Mapping[str, str],
    helpers: set[str],
    is_shared: bool,
) -> Result:
    """Return the translation of one file, and add the helpers that it needs to `helpers`."""
    file, facts = source.path, program.worlds[source.path].facts
    if file in program.foreign_files:
        return Result(source.original, facts=facts)
    cause = causes.get(file)
    if cause is not None and cause != file:
        report.add("NP2TF610", 1, 1, other=cause)
    if cause is not None:
        return Result(source.original, list(report), facts=facts)
    plan = Plan(facts.parents, facts.compiler_nodes)
    helpers |= plan_module(program.worlds[file], plan, report, NAME if is_shared else "")
    return result_of(source, facts, plan, report, _OPTIONS)


def _without_numpy(program: Program) -> set[str]:
    """Return the modules that neither use NumPy nor import a module that does."""
    users = {
        file
        for file, world in program.worlds.items()
        if world.facts.imports.imports_numpy and not is_translated(world.facts)
    }
    imports = program.imports
    return {file for file in program.worlds if users.isdisjoint(_reachable(file, imports))}


def _causes(program: Program, refused_files: Collection[str]) -> dict[str, str]:
    """Return for each module that must stay as it is the refused module for which it must: often itself."""
    exchanges: dict[str, set[str]] = {file: set() for file in program.worlds}
    for file, imported_files in program.imports.items():
        for imported_file in imported_files:
            if program.foreign_files.isdisjoint((file, imported_file)):
                exchanges[file].add(imported_file)
                exchanges[imported_file].add(file)
    causes = {file: file for file in refused_files}
    for cause in sorted(refused_files):
        for file in _reachable(cause, exchanges):
            causes.setdefault(file, cause)
    return causes


def _reachable(file: str, edges: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the files that edges lead to from a file, and the file itself."""
    files, waiting_files = {file}, [file]
    while waiting_files:
        for neighbour in edges.get(waiting_files.pop(), ()):
            if neighbour not in files:
                files.add(neighbour)
                waiting_files.append(neighbour)
    return files


def translate_program(
    files: Sequence[tuple[bytes, Path, Path]], options: Sequence[Options], is_safe: bool = False
) -> list[Outcome]:
    """Translate files (bytes, path and root) that import one another for `--target tf`.

    If the second look of `is_safe` finds one translation wrong, the other files stay unchanged, too.
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
    results = translate_sources(list(sources.values()), roots, reexports)
    for ((data, path, root), file_options), result in zip(modules, results):
        outcomes[path] = outcome_of(sources[path], result, data, path, root, file_options, is_safe)
        if result.shared_module is not None and outcomes[path].changed:
            file, text = result.shared_module
            outcomes[path] = replace(outcomes[path], shared_module=(Path(file), text.encode()))
    wrong = next((outcome for outcome in outcomes.values() if outcome.crashed), None)
    if wrong is not None:
        for path, outcome in outcomes.items():
            if outcome.changed:
                cause = Diagnostic("NP2TF610", str(path), 1, 1, (("other", str(wrong.path)),))
                outcomes[path] = Outcome(path, outcome.root, diagnostics=[cause])
    return [outcomes[path] for _, path, _ in files]
