"""`np2tf verify`: compares the translations with their originals, and times both."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from np2tf.cli.extras import cannot_run, runs_programs
from np2tf.cli.output import Steps
from np2tf.cli.verify.tables import Bar, PlotError, check_plot, draw
from np2tf.core.diagnostics import CLEAN, FINDINGS, codes

if TYPE_CHECKING:
    from np2tf.cli.verify.command_line import ProgramCommand, PytestCommand
    from np2tf.cli.verify.programs import Outcome
    from np2tf.cli.verify.projects import ProjectOutcome


_Item = TypeVar("_Item")
_Outcome = TypeVar("_Outcome")
_COMMAND = "np2tf.command"


class _Verify(click.Command):
    """A command that takes another command behind `--`, and whose --json may have a file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            args, ctx.meta[_COMMAND] = args[:at], args[at + 1 :]
        return super().parse_args(ctx, list(_with_json(args)))

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "[-- COMMAND…]"]


def _with_json(args: Sequence[str]) -> list[str]:
    """The arguments with --json's file, or `-` for standard output, in the same word."""
    own_words: list[str] = []
    remaining_words = list(args)
    while remaining_words:
        word = remaining_words.pop(0)
        if word == "--json":
            is_followed = bool(remaining_words) and remaining_words[0].endswith(".json")
            word = f"--json={remaining_words.pop(0) if is_followed else '-'}"
        own_words.append(word)
    return own_words


@click.command(cls=_Verify)
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--rtol", type=float, help="Relative tolerance for 64-bit floats (1e-7; 1e-9 for processes).")
@click.option(
    "--repeat", type=click.IntRange(min=1), help="How often to call each main() (3) or run a command (1)."
)
@click.option(
    "-k", "wanted", default="", metavar="TEXT", help="Verify only programs with TEXT in their name."
)
@click.option("--size", type=int, help="For projects: the value to pass as --size.")
@click.option("--small", is_flag=True, help="For projects: use the --size that project.toml calls small.")
@click.option(
    "--tier", type=click.Choice(("auto", "compile")), help="For translated processes, as in `np2tf run`."
)
@click.option(
    "--package", "packages", multiple=True, metavar="NAME", help="For tests: the package to translate."
)
@click.option(
    "--timeout",
    type=float,
    metavar="SECONDS",
    help="The time limit for each side, or each process.",
)
@click.option(
    "--json", "json_file", metavar="[FILE.json]", help="Print the results as JSON, or write them to a file."
)
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Plot the speed-ups to this file.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show TensorFlow's start-up log.")
@click.pass_context
def verify(ctx: click.Context, paths: tuple[Path, ...], json_file: str | None, **options: Any) -> None:
    """Run programs on NumPy and translated, and compare the results.

    A program is a Python file with a function main() that takes no arguments and returns its results; it is
    compiled at the first call. A folder stands for all .py files in it. A project is a folder with a
    project.toml, or inside one: its package runs in separate processes, as a user would run it.

    A command after -- runs twice, each time in a new process: `np2tf verify . -- pytest tests` runs a
    repository's own tests and compares them one by one; `np2tf verify . -- python script.py --size 3`, or
    for short `np2tf verify script.py -- --size 3`, runs a program with its arguments.

    The exit status is 1 if any translation differs or fails.
    """
    command = ctx.meta.get(_COMMAND)
    idle = {"wanted": "-k", "size": "--size", "small": "--small"}
    if command is None:
        idle = {"packages": "--package"}
    for name in idle:
        if options[name]:
            raise click.UsageError(
                f"{idle[name]} does not apply {'without' if command is None else 'with'} a command"
            )
    _check(paths, options)
    if command is None:
        data, show, is_equal, bars = _programs(paths, options)
    else:
        data, show, is_equal, bars = _command(paths, command, options)
    if json_file == "-":
        click.echo(json.dumps(data, indent=2))
    else:
        show()
    try:
        if json_file not in ("-", None):
            Path(json_file).write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
        if options["plot"]:
            draw(bars, options["plot"])
    except OSError as error:
        raise click.UsageError(f"NP2TF906 {error.filename}: {error.strerror or error}") from error
    sys.exit(CLEAN if is_equal else FINDINGS)


def _check(paths: tuple[Path, ...], options: dict[str, Any]) -> None:
    """Look for what cannot be verified, and for the packages that are needed, before anything runs."""
    for path in paths:
        if path.suffix == ".ipynb":
            entry = codes()["NP2TF935"]
            raise click.UsageError(f"{entry.code} {entry.message.format(name=path)}. {entry.remedy}")
    if not options["verbose"]:
        from np2tf.loading.programs.startup_log import keep_quiet

        keep_quiet()
    if not runs_programs():
        raise cannot_run()
    if options["plot"]:
        try:
            check_plot(options["plot"])
        except PlotError as error:
            raise click.UsageError(str(error)) from error


#: The data of the JSON, what shows the tables, whether all is equal, and the bars of the plot.
_Verification = tuple[dict[str, Any], Callable[[], None], bool, list[Bar]]


# -- programs with a main(), and projects


def _programs(paths: tuple[Path, ...], options: dict[str, Any]) -> _Verification:
    from np2tf.cli.verify import projects as projects_module
    from np2tf.cli.verify import tables as of_programs
    from np2tf.cli.verify import tables as of_projects
    from np2tf.cli.verify.comparison import RTOL
    from np2tf.cli.verify.programs import find_programs, verify_program
    from np2tf.cli.verify.projects import ProjectError, find_projects, verify_project

    try:
        project_definitions = find_projects(paths, options["wanted"])
    except ProjectError as error:
        raise click.UsageError(f"NP2TF926 {error}") from error
    programs = find_programs(paths, options["wanted"])
    if not programs and not project_definitions:
        raise click.UsageError("no such program in the given files and folders")
    rtol, small = options["rtol"], options["small"]
    rtols = (RTOL, projects_module.RTOL) if rtol is None else (rtol, rtol)
    repeat = max(2, options["repeat"] or 3)
    outcomes = _verify_each(
        programs,
        lambda path, progress: verify_program(
            path, rtol=rtols[0], repeat=repeat, timeout=options["timeout"], progress=progress
        ),
    )
    projects = _verify_each(
        project_definitions,
        lambda project, _: verify_project(
            project,
            rtol=rtols[1],
            repeat=repeat,
            size=project.small if small else options["size"],
            tier=options["tier"],
        ),
    )

    def show() -> None:
        if outcomes:
            of_programs.show_programs(outcomes, rtols[0])
        if projects:
            of_projects.show_projects(projects, rtols[1])

    data = {**of_programs.programs_data(outcomes, rtols[0]), **of_projects.projects_data(projects, rtols[1])}
    every: list[Outcome | ProjectOutcome] = [*outcomes, *projects]
    return data, show, all(outcome.equal for outcome in every), _bars(outcomes, projects)


def _verify_each(
    items: Sequence[_Item], verify_one: Callable[[_Item, Callable[[str], None]], _Outcome]
) -> list[_Outcome]:
    """Verify items one by one; each is given what shows its phases."""
    outcomes = []
    with Steps() as steps:
        for number, item in enumerate(items):
            name = str(getattr(item, "name", item))

            def show(phase: str, name: str = name, number: int = number) -> None:
                steps.show(f"{name}: {phase}", number, len(items))

            steps.show(name, number, len(items))
            outcomes.append(verify_one(item, show))
    return outcomes


def _bars(outcomes: list[Outcome], projects: list[ProjectOutcome]) -> list[Bar]:
    bars = [
        Bar(outcome.name, outcome.ratio or 0, outcome.equal, outcome.numpy_seconds or 0)
        for outcome in outcomes
    ]
    bars += [
        Bar(outcome.name, outcome.run_ratio or 0, outcome.equal, outcome.numpy_seconds or 0)
        for outcome in projects
    ]
    return [bar for bar in bars if bar.ratio > 0]


# -- a command


def _command(paths: tuple[Path, ...], words: list[str], options: dict[str, Any]) -> _Verification:
    from np2tf.cli.verify.command_line import CommandError, ProgramCommand, read_command

    files = [path for path in paths if path.is_file()]
    if files and len(paths) > 1:
        raise click.UsageError("give one program, or folders; what follows -- is a single command")
    try:
        if files:
            command: ProgramCommand | PytestCommand = ProgramCommand((), (str(files[0]), *words))
            folder = Path()
        elif not words:
            raise CommandError("give a command after --: pytest …, or python …")
        else:
            command = read_command(words)
            folder = _folder(paths)
    except CommandError as error:
        raise click.UsageError(str(error)) from error
    environment = {"NP2TF_TIER": options["tier"]} if options["tier"] else {}
    if isinstance(command, ProgramCommand):
        return _with_arguments(command, folder, options, environment)
    return _tests(command, paths, folder, options, environment)


def _folder(paths: tuple[Path, ...]) -> Path:
    """Where a command runs: in the repository that is named; if packages are, where we are."""
    from np2tf.cli.verify.command_line import is_package

    return paths[0] if len(paths) == 1 and not is_package(paths[0]) else Path()


def _with_arguments(
    command: ProgramCommand, folder: Path, options: dict[str, Any], environment: dict[str, str]
) -> _Verification:
    from np2tf.cli.verify import tables
    from np2tf.cli.verify.command_line import RTOL, verify_command

    with Steps() as steps:
        outcome = verify_command(
            command.options,
            command.program,
            folder,
            rtol=RTOL if options["rtol"] is None else options["rtol"],
            repeat=options["repeat"] or 1,
            timeout=options["timeout"],
            environment=environment,
            progress=steps.show,
        )
    bars = [Bar(outcome.name, outcome.ratio, outcome.equal, 0)] if outcome.ratio else []
    return (
        tables.command_data(outcome),
        lambda: tables.show_command(outcome),
        outcome.equal,
        bars,
    )


def _tests(
    command: PytestCommand,
    paths: tuple[Path, ...],
    folder: Path,
    options: dict[str, Any],
    environment: dict[str, str],
) -> _Verification:
    from np2tf.cli.verify import tables
    from np2tf.cli.verify.command_line import packages_in
    from np2tf.cli.verify.own_tests import verify_tests

    packages = options["packages"] or tuple(
        dict.fromkeys(name for path in paths for name in packages_in(path))
    )
    if not packages:
        raise click.UsageError("found no package that uses NumPy here; name it with --package")
    with Steps() as steps:
        outcome = verify_tests(
            command.arguments,
            packages,
            folder,
            python=command.python,
            timeout=options["timeout"],
            environment=environment,
            progress=steps.show,
        )
    bars = [
        Bar(pair.name, pair.ratio, pair.equal, pair.numpy.seconds)
        for pair in outcome.pairs
        if pair.ratio and pair.numpy and pair.numpy.seconds >= 0.001
    ]
    return tables.tests_data(outcome), lambda: tables.show_tests(outcome), outcome.equal, bars
