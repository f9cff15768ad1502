"""`np2tf init`: prepare a repository."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from np2tf.cli import adopting, output
from np2tf.cli import output as console
from np2tf.cli.adopting import PLACE, CannotAddError, Repository, configuration, top_of, with_table, workflow
from np2tf.cli.commands.check import jobs_for
from np2tf.cli.commands.report import survey_files
from np2tf.cli.configuration import Configurations
from np2tf.cli.files import Search, python_files, write
from np2tf.core.diagnostics import CLEAN
from np2tf.translator.batch.patches import patch_of

if TYPE_CHECKING:
    from np2tf.cli.report.survey import Survey


_HOOKS = ".pre-commit-config.yaml"
_BASELINE = "np2tf-baseline.json"


@dataclass(frozen=True)
class _Step:
    """One file: its new contents, or the reason why it does not change."""

    path: Path
    data: bytes | None = None
    note: str = ""
    asks: bool = False
    """Whether something else is in it, and is to be replaced."""


@click.command()
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--ci", type=click.Choice(("github",)), help="Also write a CI job.")
@click.option("--pre-commit/--no-pre-commit", default=True, help="Write a pre-commit hook (default).")
@click.option(
    "--baseline/--no-baseline", default=True, help="Hide today's findings with a baseline (default)."
)
@click.option(
    "--from",
    "source",
    metavar="URL@REV",
    help="The git repository from which the hook and the job install np2tf.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be written, as a patch, and write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Replace files without asking.")
@click.option("-j", "--jobs", type=click.IntRange(1), help="How many processes to use.")
def init(folder: Path, **options: Any) -> None:
    """Set up the repository around FOLDER, and say how much of it will translate.

    Writes a configuration (`[tool.np2tf]` in pyproject.toml, or np2tf.toml), a pre-commit hook, a
    baseline of today's findings and, with --ci, a CI job. Existing entries are left unchanged: a second run
    changes nothing. Your programs are not touched.
    """
    distribution = _source_of_np2tf(options)
    top = top_of(folder)
    search = Search(Configurations())
    repository = Repository.of(top, [path for path, _ in python_files([top], search)])
    survey = survey_files((top,), top, _as_configured(repository, options))
    _tell(survey)
    hide = options["baseline"] and _has_findings(survey)
    arguments = ["--baseline", _BASELINE] if hide or (top / _BASELINE).exists() else []
    steps = [_configure(repository)]
    if options["pre_commit"]:
        steps.append(_step(top / _HOOKS, lambda data: _add_hooks(data, distribution, arguments)))
    if options["ci"]:
        steps.append(_ci(top / PLACE, workflow(distribution.requirement, arguments).encode()))
    for step in steps:
        _take(step, options)
    if hide:
        _write_baseline(top, options["dry_run"])
    sys.exit(CLEAN)


def _source_of_np2tf(options: dict[str, Any]) -> adopting.Distribution:
    """Return the source from which hooks and jobs install np2tf."""
    try:
        distribution = (
            adopting.parse_origin(options["source"])
            if options["source"]
            else adopting.installed_distribution()
        )
    except ValueError as error:
        raise click.UsageError(f"--from {error}") from None
    if options["ci"] and not distribution.requirement:
        raise click.UsageError("use --from URL@REV to say where the job installs np2tf from")
    return distribution


def _as_configured(repository: Repository, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of `np2tf check` that select the files which the configuration will translate."""
    configured = Configurations().of_folder(repository.top).file is not None
    aside = () if configured else tuple(repository.aside)
    return {
        "quiet": False,
        "jobs": options["jobs"],
        "respect_gitignore": True,
        "force_exclude": False,
        "docs": False,
        "extend_exclude": aside,
    }


def _tell(survey: Survey) -> None:
    from np2tf.cli.report.survey import percent
    from np2tf.cli.report.tables import count_fates, share_native, share_staged
    from np2tf.cli.report.tables import names as used

    changes = sum(file.changes for file in survey.files)
    staged_count, functions = share_staged(survey)
    fates = count_fates(survey.fates)
    native, uses = share_native(used(survey))
    _say(f"{output.quantity(len(survey.files), 'file')}, {changes} of which would change.")
    _say(
        f"Of {output.quantity(functions, 'function')} that compute with arrays, {staged_count} "
        f"({percent(staged_count, functions)}) are compiled: {fates['staged']} on their own, "
        f"{fates['called']} only as part of a compiled caller; {fates['host']} are interpreted."
    )
    _say(f"Of {output.quantity(uses, 'use')} of NumPy, {native} ({percent(native, uses)}) run on TensorFlow.")
    _say(f"{output.quantity(len(survey.findings), 'finding')}: `np2tf check` shows them.")


def _say(text: str) -> None:
    """Print a line: wrapped at words on a terminal."""
    console.say(console.wide_console(), text)


def _has_findings(survey: Survey) -> bool:
    return any(finding.severity == "warning" for finding in survey.findings)


def _configure(repository: Repository) -> _Step:
    """Return the step for the configuration; an existing configuration stays."""
    own_file = repository.top / "np2tf.toml"
    file = Configurations().of_folder(repository.top).file
    if file is not None:
        return _Step(file, note="already has the configuration")
    if not repository.pyproject.is_file():
        return _Step(own_file, configuration(repository.aside, True).encode())
    table = configuration(repository.aside, False)
    return _step(repository.pyproject, lambda data: with_table(data, table))


def _add_hooks(data: bytes, distribution: adopting.Distribution, arguments: list[str]) -> bytes:
    """Return the file with a hook of np2tf added; the file does not change if it has such a hook."""
    from np2tf.cli.pre_commit import NEW, has_hook, local_entry, remote_entry, with_entry

    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CannotAddError(str(error)) from None
    if has_hook(text):
        return data
    entry = (
        remote_entry(distribution.url, distribution.revision, arguments)
        if distribution.url
        else local_entry(arguments)
    )
    return with_entry(text if text.strip() else text + NEW, entry).encode("utf-8")


def _step(path: Path, change: Callable[[bytes], bytes]) -> _Step:
    """Return the step for a file to which an entry is added."""
    try:
        before = path.read_bytes() if path.exists() else b""
        after = change(before)
    except CannotAddError as error:
        return _Step(path, note=f"was left unchanged: {error}")
    return _Step(path, after) if after != before else _Step(path, note="already has an entry for np2tf")


def _ci(path: Path, data: bytes) -> _Step:
    """Return the step for the job, whose file belongs to np2tf alone: it is replaced as a whole, or stays."""
    if not path.exists():
        return _Step(path, data)
    return _Step(path, note="already exists") if path.read_bytes() == data else _Step(path, data, asks=True)


def _take(step: _Step, options: dict[str, Any]) -> None:
    """Write a file, or print why it is not written."""
    name = click.format_filename(_short(step.path))
    if step.data is None:
        _say(f"{name} {step.note}")
        return
    if options["dry_run"]:
        before = step.path.read_bytes() if step.path.exists() else b""
        output.write_bytes(patch_of(Path(_short(step.path)), before, step.data))
        return
    if step.asks and not options["yes"]:
        is_asked = sys.stdin.isatty()
        if not is_asked or not click.confirm(f"{name} has different contents; replace it?"):
            _say(f"{name} was left unchanged{'' if is_asked else '; --yes replaces it'}")
            return
    try:
        step.path.parent.mkdir(parents=True, exist_ok=True)
        write(step.path, step.data)
    except OSError as error:
        raise click.UsageError(f"{name}: {error.strerror or error}") from None
    _say(f"{name} was written")


def _short(path: Path) -> str:
    """Return a path relative to the current folder."""
    return next(_shorter(path), str(path))


def _shorter(path: Path) -> Iterator[str]:
    whole, here = os.path.abspath(path), os.getcwd()
    if whole.startswith(here + os.sep):
        yield os.path.relpath(whole, here)


def _write_baseline(top: Path, is_dry: bool) -> None:
    """Hide today's findings, as `np2tf check --write-baseline` does."""
    from np2tf.cli.check.baseline import Baseline
    from np2tf.cli.check.run import Run

    file = top / _BASELINE
    name = click.format_filename(_short(file))
    if file.exists():
        _say(f"{name} already exists: `np2tf check --write-baseline {_BASELINE} .` updates it")
        return
    if is_dry:
        _say(f"{name} would be written")
        return
    configurations = Configurations()
    files = list(python_files([top], Search(configurations)))
    run = Run.of(
        files,
        [top],
        lambda code, path: configurations.of(path).is_selected(code, path),
        lambda path: configurations.of(path).options(),
        jobs_for(files),
    )
    baseline = Baseline(file).renew(
        run.files,
        run.findings,
        run.texts,
        lambda code, path: configurations.of(path).is_selected(code, path),
    )
    count = output.quantity(baseline.write(), "finding")
    _say(f"{name} was written, with {count}; `np2tf check --baseline {name} .` shows only new ones")
