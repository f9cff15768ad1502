"""`np2tf report`: what becomes of a repository, as a page or as Markdown."""

from __future__ import annotations

import os
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import click

from np2tf import __version__
from np2tf.cli import output
from np2tf.cli.commands.check import jobs_for
from np2tf.cli.commands.options import configurations_of, file_choices, search_of, with_options
from np2tf.cli.files import python_files, write
from np2tf.cli.output import Bar
from np2tf.core.diagnostics import CLEAN, INTERNAL

if TYPE_CHECKING:
    from np2tf.cli.report.runs import Run
    from np2tf.cli.report.survey import Survey


_OPTIONS = (
    click.option(
        "--html",
        type=click.Path(dir_okay=False, path_type=Path),
        help="Write the report as a single self-contained web page.",
    ),
    click.option(
        "--markdown", is_flag=True, help="Print the report as Markdown, for pull requests (default)."
    ),
    click.option(
        "--run",
        "command",
        metavar="COMMAND",
        help='Run "pytest …", "python FILE …" or "python -m MODULE …" translated; show what ran compiled.',
    ),
    click.option("--title", help="The report's title (default: the folder's name)."),
    click.option("-j", "--jobs", type=click.IntRange(1), help="How many processes to use."),
    click.option("-q", "--quiet", is_flag=True, help="Show no progress and no summary."),
)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@with_options(*_OPTIONS)
@file_choices
def report(paths: tuple[Path, ...], html: Path | None, markdown: bool, **options: Any) -> None:
    """Report how PATHS would run when translated. No file is changed.

    The report has shares, reasons, findings, NumPy's names, and each file's source beside its translation.

    Exit status: 0 report written, 2 wrong usage, 123 internal error in one of the files.
    """
    folder = _folder_of(paths)
    survey = survey_files(paths, folder, options)
    if not survey.files:
        raise click.UsageError("no Python files or notebooks found: see --include and --exclude")
    run = _run(options["command"], paths, folder) if options["command"] else None
    title = options["title"] or folder.resolve().name
    if html is not None:
        from np2tf.cli.report.page import page

        date = datetime.now(timezone.utc).strftime("on %Y-%m-%d at %H:%M UTC")
        try:
            write(html, page(survey, title, date, __version__, run).encode("utf-8"))
        except OSError as error:
            raise click.UsageError(f"{html}: {error.strerror or error}") from None
    if markdown or html is None:
        from np2tf.cli.report.markdown import markdown as as_markdown

        _show_markdown(as_markdown(survey, title, run), is_source=markdown)
    if html is not None and not options["quiet"]:
        click.echo(f"{html}: {output.quantity(len(survey.files), 'file')}", err=True)
    sys.exit(INTERNAL if any(file.crashed for file in survey.files) else CLEAN)


def _folder_of(paths: tuple[Path, ...]) -> Path:
    """Return the folder to which the report's paths are relative: the folder that contains every path."""
    folders = [path if path.is_dir() else path.parent for path in paths]
    if len(set(folders)) == 1:
        return folders[0]
    try:
        return Path(os.path.relpath(os.path.commonpath([folder.resolve() for folder in folders])))
    except ValueError:  # several drives
        return folders[0]


def _show_markdown(text: str, is_source: bool) -> None:
    """Print Markdown: laid out on a terminal, unless its source was asked for."""
    console = output.wide_console()
    if is_source or not console.is_terminal:
        output.write_text(text, is_for_people=True)
        return
    from rich.markdown import Markdown, TableElement
    from rich.table import Table

    class Folded(TableElement):
        """A table whose cells are folded, and not cut, where a path is wider than its column."""

        def __rich_console__(self, *of: Any) -> Any:
            for part in super().__rich_console__(*of):
                for column in part.columns if isinstance(part, Table) else ():
                    column.overflow = "fold"
                yield part

    class Page(Markdown):
        elements: ClassVar = {**Markdown.elements, "table_open": Folded}

    console.print(Page(text))


def survey_files(paths: tuple[Path, ...], folder: Path, options: dict[str, Any]) -> Survey:
    """Return what becomes of the files, as far as the options choose them."""
    from np2tf.cli.report.survey import survey

    configurations = configurations_of(options)
    search = search_of(options, configurations)
    files = list(python_files(paths, search))
    if files and not options["quiet"]:
        output.warn(search.warnings())
    with Bar(len(files), not options["quiet"]) as bar:
        return survey(
            files,
            folder,
            lambda path: configurations.of(path).options(as_source=False),
            lambda code, path: configurations.of(path).is_selected(code, path),
            options["jobs"] or jobs_for(files),
            bar.advance,
        )


def _run(command: str, paths: tuple[Path, ...], folder: Path) -> Run:
    """Run a program translated, in the current folder."""
    from np2tf.cli.report.runs import CommandError, run_and_read
    from np2tf.cli.report.survey import top_level_names

    names = top_level_names([path.resolve() for path, _ in python_files(paths)])
    try:
        return run_and_read(command, list(names), folder)
    except CommandError as error:
        raise click.UsageError(str(error)) from None
