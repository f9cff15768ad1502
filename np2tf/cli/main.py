"""The command line: one command per file, loaded when the user calls it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import click

from np2tf import __version__
from np2tf.core.diagnostics import INTERNAL, USAGE
from np2tf.core.search_path import library_first
from np2tf.core.settings import config as settings

# command -> its line in `np2tf --help`. The module np2tf.cli.main.<command> defines a click command of that
# name.
COMMANDS: dict[str, str] = {
    "init": "Set up a repository: configuration, pre-commit hook, CI job.",
    "convert": "Translate files: show a diff, rewrite in place, or write to another folder.",
    "check": "List what would change, and what cannot be translated.",
    "config": "Show a file's settings and where each is set.",
    "explain": "Explain a diagnostic code or a NumPy name.",
    "coverage": "Show how each public NumPy name is supported.",
    "run": "Run a script or module translated, just as `python` would.",
    "export": "Save a function as a model that TensorFlow loads without np2tf.",
    "report": "Report on a repository, as a web page or Markdown.",
    "cache": "Show or clear the cache of import-time translations.",
    "verify": "Run programs on NumPy and translated, and compare the results.",
    "server": "Serve an editor: findings and translations as you type.",
    "play": "Open a page on this machine to try translations in.",
    "completion": "Print a script that lets a shell complete np2tf's commands and options.",
}


class DeferredAction(BaseException):
    """Raised by a command to run `action` once neither click nor `main` handles exceptions any more."""

    def __init__(self, action: Callable[[], Any]) -> None:
        super().__init__(action)
        self.action = action


class Lazy(click.Group):
    """A group that imports a command's module only when that command runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        with library_first():  # so that `run` can tell that another module hides one that np2tf needs
            module = importlib.import_module(f"np2tf.cli.commands.{cmd_name}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            from np2tf.cli.output import meant

            program = f"; to run a program: np2tf run {args[0]}" if args[0].endswith(".py") else ""
            ctx.fail(f"no such command: {args[0]}{meant(args[0], COMMANDS) or program}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ValueError as error:
            from np2tf.cli.configuration import ConfigurationError

            if isinstance(error, ConfigurationError):
                raise click.UsageError(str(error)) from None
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="%(prog)s %(version)s")
def np2tf() -> None:
    """Translate NumPy code to TensorFlow.

    Exit status: 0 nothing to do, or done; 1 would change or has findings; 2 wrong usage; 123 internal error.
    """
    try:
        settings.check_environment()
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def main(args: list[str] | None = None) -> Any:
    """Run the `np2tf` command, by default with the arguments of the process."""
    try:
        return np2tf.main(args, prog_name="np2tf")
    except DeferredAction as deferral:
        action = deferral.action
    except BrokenPipeError:
        # The reader of the pipe has closed it (`np2tf convert … | head`): nothing is wrong.
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:  # the last handler: the user gets a code, and not a traceback
        if isinstance(error, ModuleNotFoundError) and error.name in ("numpy", "tensorflow"):
            from np2tf.cli.extras import cannot_run

            click.echo(f"np2tf: {cannot_run().message}", err=True)
            sys.exit(USAGE)
        click.echo(f"np2tf: NP2TF905 internal error: {type(error).__name__}: {error}", err=True)
        click.echo("Please report this, with the command and the file.", err=True)
        sys.exit(INTERNAL)
    if args is not None:
        return action()
    from np2tf.staging.process.ending import run_to_the_end

    return run_to_the_end(action)
