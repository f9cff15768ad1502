"""np2tf check: prints the findings of the translation, as a linter does."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from np2tf import __version__
from np2tf.cli import output
from np2tf.cli.check.baseline import Baseline, BaselineError, IsSelectedIn
from np2tf.cli.check.fixes import Fixes
from np2tf.cli.check.formats import FOR_PEOPLE, FORMATS, Listing, render
from np2tf.cli.check.run import Run
from np2tf.cli.commands.explain import show
from np2tf.cli.commands.options import (
    configurations_of,
    everything,
    file_choices,
    search_of,
    with_options,
)
from np2tf.cli.files import name_of_standard_input, python_files
from np2tf.cli.output import Bar, new_table, say, show_table
from np2tf.core.diagnostics import CLEAN, FINDINGS, INTERNAL, Diagnostic, codes
from np2tf.translator.batch.outcome import is_own_fault
from np2tf.translator.control.fates import CALLED, HOST, PLAIN, STAGED, Fate, reasons, share
from np2tf.translator.sources.options import Options

if TYPE_CHECKING:
    from rich.console import Console

# -- fates ---------------------------------------------------------------------------------------------------
# Tables of the numbers of functions over arrays with each fate.

#: The maximal number of reasons in the table.
ROWS = 20


def show_summary(fates: Sequence[Fate], console: Console) -> None:
    """Print the number of functions with each fate, and why functions stay on the host."""
    table = new_table(console, "Functions that compute with arrays")
    table.add_column("how they run")
    for name in ("all", "share", "with loops", "share"):
        table.add_column(name, justify="right")
    plain = sum(fate.fate == PLAIN for fate in fates)
    fates = [fate for fate in fates if fate.fate != PLAIN]
    loops = [fate for fate in fates if fate.loops]
    for fate in (STAGED, CALLED, HOST):
        table.add_row(fate, *map(str, (*share(fates, fate), *share(loops, fate))))
    table.add_row("total", str(len(fates)), "", str(len(loops)), "")
    show_table(console, table)
    if plain:
        say(console, f"{plain} more have loops but no arrays or arithmetic: plain Python")
    reason_table = new_table(console, "Why functions are interpreted")
    reason_table.add_column("functions", justify="right")
    reason_table.add_column("reason")
    for reason, count in reasons(fates, ROWS):
        reason_table.add_row(str(count), reason)
    if reason_table.row_count:
        show_table(console, reason_table)


# -- check ---------------------------------------------------------------------------------------------------
# `np2tf check`: prints the findings of the translation, as a linter does.

_STANDARD_INPUT = Path("-")
#: From this size of all files on, in bytes, several processes are used, unless `--jobs` says otherwise.
_WORTH_WORKERS = 96 * 1024


def _explain(ctx: click.Context, param: click.Parameter, code: str | None) -> None:
    if code is not None:
        show(code)
        ctx.exit()


_OPTIONS = (
    click.option("-q", "--quiet", is_flag=True, help="Print only the findings."),
    click.option(
        "-v", "--verbose", is_flag=True, help="Print how each function with loops or arrays will run."
    ),
    click.option(
        "--summary", is_flag=True, help="Print how many functions are compiled, and why the others are not."
    ),
    click.option(
        "--format",
        "form",
        type=click.Choice(list(FORMATS)),
        default="text",
        help="How to print the findings.",
    ),
    click.option(
        "--statistics", is_flag=True, help="Print how often each code was found instead of the findings."
    ),
    click.option(
        "--baseline",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Hide the findings listed in this file.",
    ),
    click.option(
        "--write-baseline",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write the findings to this file, for use with --baseline.",
    ),
    click.option(
        "--fix", is_flag=True, help="Write the names that NumPy 2 removed as NumPy spells them now ([*])."
    ),
    click.option("--diff", is_flag=True, help="With --fix: print what would be fixed and write nothing."),
    click.option(
        "--add-ignore", is_flag=True, help="Add a suppression comment to the source for each finding."
    ),
    click.option("--fix-ignores", is_flag=True, help="Remove suppression comments that hide nothing."),
    click.option("--stdin-filename", metavar="FILE", help="The file name to use for standard input."),
    click.option("--exit-zero", is_flag=True, help="Exit with status 0 even if there are findings."),
    click.option("-j", "--jobs", type=click.IntRange(1), help="How many processes to use."),
    click.option(
        "--explain",
        metavar="CODE",
        is_eager=True,
        expose_value=False,
        callback=_explain,
        help="Explain a code, as `np2tf explain` does.",
    ),
)


@click.command()
@click.argument(
    "paths",
    nargs=-1,
    required=True,
    metavar="PATH…",
    type=click.Path(exists=True, allow_dash=True, path_type=Path),
)
@with_options(*_OPTIONS)
@file_choices
@everything
def check(paths: tuple[Path, ...], exit_zero: bool, **options: Any) -> None:
    """List what would change, and what cannot be translated. Nothing is written unless you ask for it. `-`
    reads one program or notebook from standard input.

    All paths are treated as one project: calls into other files count too.

    Exit status: 0 nothing but notes, 1 findings, 2 wrong usage, 123 internal error.
    """
    _refuse(paths, options)
    try:
        baseline = _baseline(options["baseline"], options["write_baseline"])
    except BaselineError as error:
        raise click.UsageError(str(error)) from None
    configurations = configurations_of(options)
    search = search_of(options, configurations)
    contents: dict[Path, bytes] = {}
    if _STANDARD_INPUT in paths:
        data = sys.stdin.buffer.read()
        path = name_of_standard_input(data, options["stdin_filename"])
        contents[path] = data
        files = [] if search.force_exclude and search.excludes(path) else [(path, path.parent)]
    else:
        files = list(python_files(paths, search))
    if not options["quiet"]:
        output.warn(search.warnings())
    folders = [path for path in paths if path != _STANDARD_INPUT and path.is_dir()]
    jobs = options["jobs"] or jobs_for(files)
    with_fates = options["verbose"] or options["summary"]

    def selection(code: str, path: Path) -> bool:
        return configurations.of(path).is_selected(code, path)

    def options_of(path: Path) -> Options:
        changes = {"docs": options["docs"], "numpy_only": not options["everything"]}
        return replace(configurations.of(path).options(), **changes)

    def run() -> Run:
        with Bar(len(files), not options["quiet"], "Checking") as bar:
            return Run.of(files, folders, selection, options_of, jobs, with_fates, contents, bar.advance)

    if options["diff"]:
        sys.exit(_show_fixes(run(), options))
    result = _edit_files(run, options)
    if baseline is not None and options["write_baseline"] is not None:
        result = _write_baseline(result, baseline, selection, options["quiet"])
    elif baseline is not None:
        _hide(result, baseline, selection)
    _show(result, options)
    status = result.status
    sys.exit(CLEAN if exit_zero and status == FINDINGS else status)


def jobs_for(files: Sequence[tuple[Path, Path]]) -> int:
    """Return the number of processes: one per processor if the files are large enough, else 1."""
    size = 0
    for path, _ in files:
        with suppress(OSError):
            size += path.stat().st_size
    if size < _WORTH_WORKERS:
        return 1
    from np2tf.translator.batch.workers import cores  # not loaded for a file or two

    return cores()


def _refuse(paths: tuple[Path, ...], options: dict[str, Any]) -> None:
    """Raise UsageError for options that exclude each other."""
    if _STANDARD_INPUT not in paths:
        if options["stdin_filename"] is not None:
            raise click.UsageError("--stdin-filename needs `-`")
    elif len(paths) > 1 or options["fix"] or options["add_ignore"] or options["fix_ignores"]:
        raise click.UsageError(
            "`-` cannot be combined with other paths, --fix, --add-ignore or --fix-ignores"
        )
    if options["diff"] and not options["fix"]:
        raise click.UsageError("--diff needs --fix; `np2tf convert --diff` shows translations")
    actions = [name for name in ("write_baseline", "fix", "add_ignore", "fix_ignores") if options[name]]
    if options["write_baseline"] and options["baseline"]:
        actions.append("baseline")
    if len(actions) > 1:
        raise click.UsageError(
            " and ".join(f"--{name.replace('_', '-')}" for name in actions) + " cannot be used together"
        )
    form = options["form"]
    if form not in FOR_PEOPLE:
        bad = [name for name in ("verbose", "summary", "diff") if options[name]]
        if options["statistics"] and form != "json":
            bad.append("statistics")
        if bad:
            raise click.UsageError(f"--{bad[0]} cannot be used with --format {form}")


def _baseline(read_path: Path | None, write_path: Path | None) -> Baseline | None:
    if read_path is not None:
        return Baseline.read(read_path)
    if write_path is None:
        return None
    return Baseline.read(write_path) if write_path.exists() else Baseline(write_path)


def _show_fixes(run: Run, options: dict[str, Any]) -> int:
    """Print what --fix would change; return the exit status."""
    _hide_known(run, options)
    fixes = run.fix("text" if sys.stdout.isatty() else "bytes")
    if sys.stdout.isatty():
        output.show_patch(b"".join(fixes.patches).decode("utf-8", "replace"))
    else:
        output.write_bytes(b"".join(fixes.patches))
    output.findings(fixes.problems, to_stderr=True)
    if not options["quiet"]:
        if fixes.has_notebooks:
            click.echo(output.NOTEBOOK_DIFFS, err=True)
        click.echo(f"Would fix {_in_files(fixes)}.", err=True)
    if is_own_fault(fixes.problems):
        return INTERNAL
    return FINDINGS if fixes.patches or fixes.problems else CLEAN


def _in_files(fixes: Fixes) -> str:
    count = output.quantity(len(fixes.mended_findings), "finding")
    return f"{count} in {output.quantity(len(fixes.patches), 'file')}"


def _hide_known(run: Run, options: dict[str, Any]) -> None:
    """Hide the findings of the baseline, if there is one."""
    if options["baseline"] is not None:
        _hide(run, Baseline.read(options["baseline"]), None)


def _edit_files(run: Callable[[], Run], options: dict[str, Any]) -> Run:
    """Return the findings, after the files have been edited as the options ask."""
    result = run()
    if options["fix"]:
        _hide_known(result, options)
        fixes = result.fix()
        if not options["quiet"]:
            for finding in fixes.mended_findings:
                click.echo(f"{finding.place}: {finding.code} fixed: {finding.message}", err=True)
        text = f"Fixed {_in_files(fixes)}."
    elif options["add_ignore"]:
        _hide_known(result, options)
        count, files = result.add_suppressions()
        text = f"Suppressed {output.quantity(count, 'finding')} in {output.quantity(files, 'file')}."
    elif options["fix_ignores"]:
        count, files = result.remove_unused()
        text = f"Removed {output.quantity(count, 'suppression')} in {output.quantity(files, 'file')}."
    else:
        return result
    if not options["quiet"]:
        click.echo(text, err=True)
    now = run()
    now.further += result.further
    return now


def _write_baseline(run: Run, baseline: Baseline, selection: IsSelectedIn, quiet: bool) -> Run:
    """Write the baseline, and return the run with the findings that the baseline does not hold."""
    new_baseline = baseline.renew(run.files, run.findings, run.texts, selection)
    try:
        count = new_baseline.write()
    except OSError as error:
        reason = (("reason", error.strerror or str(error)),)
        run.further.append(Diagnostic("NP2TF906", str(baseline.file), 1, 1, reason))
        return run
    if not quiet:
        click.echo(f"{baseline.file} lists {output.quantity(count, 'finding')}.", err=True)
    _hide(run, Baseline.read(baseline.file), selection)
    return run


def _hide(run: Run, baseline: Baseline, selection: IsSelectedIn | None) -> None:
    """Hide the findings that the baseline knows, and report its stale entries if that code is selected."""
    texts = run.texts
    for verdict in run.judged_files:
        before = len(verdict.visible_findings)
        verdict.visible_findings = baseline.new(verdict.visible_findings, texts)
        run.baseline_count += before - len(verdict.visible_findings)
    if selection is not None and selection("NP2TF914", baseline.file):
        run.further += baseline.stale(run.files, selection)


def _show(run: Run, options: dict[str, Any]) -> None:
    form, quiet, summary = options["form"], options["quiet"], options["summary"]
    texts = run.texts
    for finding in run.further:
        if finding.path not in texts and Path(finding.path).is_file():
            texts[finding.path] = Path(finding.path).read_text(encoding="utf-8", errors="replace")
    listing = Listing(
        run.findings,
        texts,
        [str(file.path) for file in run.files],
        output.has_colors(),
        output.columns(),
        __version__,
    )
    if options["statistics"]:
        _show_statistics(listing.findings, form)
    elif not summary:
        output.write_text(render(form, listing), is_for_people=form in FOR_PEOPLE)
        if form in FOR_PEOPLE and not quiet:
            for file in run.files:
                if file.would_change:
                    click.echo(f"{file.path}: would change")
    if options["verbose"]:
        for path, fate in run.project.fates():
            click.echo(f"{path}:{fate}")
    if summary:
        show_summary([fate for _, fate in run.project.fates()], output.wide_console())
    if not quiet:
        click.echo(_summary(run), err=True)


def _show_statistics(findings: Sequence[Diagnostic], form: str) -> None:
    counts = Counter(finding.code for finding in findings).most_common()
    counts.sort(key=lambda entry: (-entry[1], entry[0]))
    if form == "json":
        entries = [
            {
                "code": code,
                "count": count,
                "severity": codes()[code].severity,
                "message": codes()[code].title,
            }
            for code, count in counts
        ]
        click.echo(json.dumps(entries, indent=2))
        return
    width = max((len(str(count)) for _, count in counts), default=0)
    for code, count in counts:
        click.echo(f"{count:>{width}}  {code}  {codes()[code].title}")


def _summary(run: Run) -> str:
    """Return a line such as `3 files would change, 1 failed, 20 unchanged; 2 warnings`."""
    failures = sum(file.is_failed for file in run.files)
    changes = sum(file.would_change for file in run.files)
    text = output.files_told(len(run.files), changes, failures, "would change")
    notes = output.severities(run.findings)
    fixable_count = sum(finding.is_fixable for finding in run.findings)
    if fixable_count:
        notes.append(f"{fixable_count} fixable with --fix [*]")
    if run.baseline_count:
        notes.append(f"{run.baseline_count} more in the baseline")
    return text + (f"; {', '.join(notes)}" if notes else "")
