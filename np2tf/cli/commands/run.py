"""`np2tf run`: runs a script or a module translated, as `python` would run it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

from np2tf.core.search_path import library_first

FORMATS = ("text", "json")


class _Run(click.Command):
    """A command whose options end where the program begins, as Python's do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self._separate_arguments(args))

    def _separate_arguments(self, args: Sequence[str]) -> list[str]:
        """Return the arguments with `--` before the program's arguments, and `--report` with its value."""
        value_options = {
            name for option in self.params if not getattr(option, "is_flag", True) for name in option.opts
        }
        own_options: list[str] = []
        remaining_words = list(args)
        while remaining_words:
            word = remaining_words.pop(0)
            if word == "--report":
                is_followed = bool(remaining_words) and remaining_words[0] in FORMATS
                own_options.append(f"--report={remaining_words.pop(0) if is_followed else 'text'}")
            elif word == "-m" and remaining_words:
                return [*own_options, "-m", remaining_words[0], "--", *remaining_words[1:]]
            elif word.startswith("-m") and not word.startswith("--") and len(word) > 2:
                return [*own_options, "-m", word[2:], "--", *remaining_words]
            elif word == "--":
                return [*own_options, word, *remaining_words]
            elif word in value_options:
                own_options += [word, *remaining_words[:1]]
                del remaining_words[:1]
            elif word.startswith("-") and word != "-":
                own_options.append(word)
            else:
                return [*own_options, "--", word, *remaining_words]
        return own_options


@click.command(cls=_Run, options_metavar="[OPTION…]")
@click.option("-m", "module", metavar="MODULE", help="Run this module or package, as `python -m` does.")
@click.option(
    "--include", multiple=True, metavar="PATTERN", help="Also translate these modules: a name or a pattern."
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Do not translate these modules.")
@click.option("--device", metavar="DEVICE", help="Run TensorFlow on this device: cpu, gpu, gpu:1, tpu:0 …")
@click.option("--float32", is_flag=True, help="Create floating-point arrays as float32 by default.")
@click.option(
    "--jit",
    type=click.Choice(("on", "strict", "off")),
    help="Compile the functions that can be compiled, all functions, or none.",
)
@click.option(
    "--tier",
    type=click.Choice(("auto", "compile")),
    help="Compile functions and loops when it pays off, or at once.",
)
@click.option(
    "--eager",
    type=click.Choice(("auto", "tensorflow")),
    help="Where operations outside compiled functions run: where their arrays are, or always on TensorFlow.",
)
@click.option(
    "--report",
    type=click.Choice(FORMATS),
    metavar="[text|json]",
    help="At the end, report where the time went, what stayed on NumPy and why, and what compiling cost.",
)
@click.option(
    "--report-file", type=click.Path(path_type=Path), help="Write the report to this file instead of stderr."
)
@click.option(
    "--workers",
    type=click.IntRange(min=1),
    metavar="N",
    help="Run the program in N processes, connected by np2tf.distribute.",
)
@click.option(
    "--max-restarts",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="If a worker fails, restart all workers, at most N times.",
)
@click.option(
    "-v", "--verbose", is_flag=True, help="Show TensorFlow's start-up log, and what cannot be compiled."
)
@click.option("--full-traceback", is_flag=True, help="Show np2tf's and TensorFlow's frames in tracebacks.")
@click.argument("program", nargs=-1, metavar="(FILE | -m MODULE) [ARGUMENT]…")
def run(**options: Any) -> NoReturn:
    """Run a script or module translated, just as `python` would.

    Translates the script and the modules and packages in its folder; with -m, the package. Options go
    before FILE or -m; the program gets everything after it. No file is changed. The exit status is the
    program's.
    """
    with library_first():  # so that it can be told that another module hides one that np2tf needs
        from np2tf.cli.running import start  # needs NumPy, which the translator alone does not

    start(**options)
