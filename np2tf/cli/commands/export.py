"""`np2tf export`: saves a function of a script as a model that TensorFlow loads without np2tf."""

from __future__ import annotations

import contextlib
import importlib.util
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import click

from np2tf.cli.extras import runs_programs
from np2tf.core.diagnostics import codes


@click.command(options_metavar="[OPTION…]")
@click.argument("target", metavar="FILE:FUNCTION")
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="The folder to write the model to.",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    metavar="TEXT",
    help="An argument: 'x: f64[?, 3]', with ? for a length known only when the model runs. Repeatable.",
)
@click.option(
    "--stablehlo",
    "text",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Also write StableHLO text and a portable artifact; all lengths must be known.",
)
@click.option(
    "--device",
    type=click.Choice(("cpu", "gpu", "tpu")),
    help="The kind of device for the StableHLO (default: the one TensorFlow finds here).",
)
@click.option("--overwrite", is_flag=True, help="Write to the folder even if it is not empty.")
def export(
    target: str,
    folder: Path,
    inputs: tuple[str, ...],
    text: Path | None,
    device: str | None,
    overwrite: bool,
) -> None:
    """Save a function from a script as a model that TensorFlow loads without np2tf.

    The file is run as a module to find the function, and the function is translated. `tf.saved_model.load`
    and `np2tf.load` read the model.
    """
    if not runs_programs():
        _refuse("NP2TF925")
    file, _, name = target.rpartition(":")
    if device is not None and text is None:
        raise click.UsageError("--device needs --stablehlo; a saved model runs on every device")
    if not file or not name:
        raise click.UsageError(f"give a file and a function, such as script.py:function, not {target!r}")
    if not inputs:
        raise click.UsageError("give the arguments, such as --input 'x: f64[?, 3]'")
    if not Path(file).is_file():
        _refuse("NP2TF931", name=file)
    from np2tf.loading.programs.startup_log import keep_quiet

    keep_quiet()
    with _module(Path(file)) as module:
        function = getattr(module, name, None)
        if not callable(function):
            _refuse("NP2TF952", file=file, name=name)
        import numpy as np

        from np2tf.core.errors import StagingError
        from np2tf.integrations.serving.inputs import InputError
        from np2tf.integrations.serving.saving import save, stablehlo

        try:
            program = stablehlo(function, inputs, device=device) if text is not None else None
            save(function, folder, [inputs], overwrite=overwrite)
        except StagingError as error:
            place = f"{error.place[0]}:{error.place[1]}: " if error.place else ""
            click.echo(
                f"np2tf export: {place}{error.code} `{name}` cannot be saved: {error.reason}", err=True
            )
            click.echo(f"  {codes()[error.code].remedy}", err=True)
            sys.exit(2)
        except FileExistsError as error:
            click.echo(f"np2tf export: {str(error).partition(';')[0]}; --overwrite writes to it", err=True)
            sys.exit(2)
        except (InputError, OSError) as error:
            click.echo(f"np2tf export: {error}", err=True)
            sys.exit(2)
        click.echo(f"{name} was saved in {folder}")
        if text is not None and program is not None:
            text.write_text(program, encoding="utf-8")
            artifact = text.with_name(f"{text.name}.bc")
            artifact.write_bytes(program.artifact())
            click.echo(f"StableHLO of {name} is in {text}, and as a portable artifact in {artifact}")
            if program.arrays:
                arrays = text.with_name(f"{text.name}.npz")
                np.savez(arrays, *program.arrays)
                click.echo(f"its last {len(program.arrays)} inputs are in {arrays}")


@contextlib.contextmanager
def _module(file: Path) -> Iterator[types.ModuleType]:
    """Run a file as a module with its folder on the path, as `python FILE` would, during an export."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        _refuse("NP2TF933", name=str(file))
    module = importlib.util.module_from_spec(spec)
    path, modules = [*sys.path], {**sys.modules}
    sys.path.insert(0, str(file.resolve().parent))
    sys.modules.setdefault(file.stem, module)
    try:
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            _refuse("NP2TF953", reason=f"{type(error).__name__}: {error}")
        yield module
    finally:
        sys.path[:] = path
        for name in sys.modules.keys() - modules.keys():
            if _is_beside(sys.modules[name], file):
                del sys.modules[name]


def _is_beside(module: types.ModuleType, file: Path) -> bool:
    """Return whether a module comes from the folder of a file."""
    path = getattr(module, "__file__", None)
    return path is not None and file.resolve().parent in Path(path).resolve().parents


def _refuse(code: str, **words: Any) -> NoReturn:
    entry = codes()[code]
    click.echo(f"np2tf export: {code} {entry.message.format_map(words)}\n  {entry.remedy}", err=True)
    sys.exit(2)
