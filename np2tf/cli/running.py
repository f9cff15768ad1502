"""How `np2tf run` starts a program."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from np2tf.cli.extras import cannot_run, is_installed
from np2tf.cli.main import DeferredAction
from np2tf.core.faults import note_fault
from np2tf.core.late import TensorFlowMissingError, installation
from np2tf.core.settings import config
from np2tf.core.settings import program as settings_of_program
from np2tf.loading.findings import warn_in_one_line
from np2tf.loading.programs.execute import execute, on_device, show
from np2tf.loading.programs.program import (
    CannotRun,
    Program,
    may_have_tensors,
    modules_in_the_way,
    prepare,
)
from np2tf.loading.programs.startup_log import keep_quiet
from np2tf.loading.programs.workers import run_workers, worker_index


def start(
    module: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    program: tuple[str, ...],
    device: str | None,
    float32: bool,
    report: str | None,
    report_file: Path | None,
    workers: int | None,
    max_restarts: int,
    verbose: bool,
    full_traceback: bool,
    **settings: str | None,
) -> NoReturn:
    """Run the program that the options of `np2tf run` tell of: see there."""
    if module is None and not program:
        raise click.UsageError("give a file, or -m and a module")
    asks_for_tensorflow = device or float32 or workers is not None or settings.get("eager") == "tensorflow"
    if not is_installed("numpy") or (asks_for_tensorflow and not is_installed("tensorflow")):
        raise cannot_run()
    target, arguments = (module, program) if module is not None else (program[0], program[1:])
    main_program = Program(target, module is not None, tuple(arguments), include, exclude)
    if in_the_way := modules_in_the_way(main_program):
        click.echo(
            f"np2tf run: files in the program's folder or on PYTHONPATH hide modules that np2tf needs "
            f"({', '.join(in_the_way)}), so the program runs untranslated, with `python`",
            err=True,
        )
        words = ["-m", target] if module is not None else [target]
        raise DeferredAction(lambda: os.execv(sys.executable, [sys.executable, *words, *arguments]))
    choices = {name: value for name, value in settings.items() if value is not None}
    if float32:
        choices["floats"] = "float32"
    settings_of_program.is_verbose = verbose
    if not verbose:
        keep_quiet()
    warn_in_one_line()
    if not is_installed("tensorflow"):
        installation.note(ModuleNotFoundError("No module named 'tensorflow'"))
        installation.warn()
    if workers is not None:
        if worker_index() is None:
            raise DeferredAction(lambda: sys.exit(run_workers(workers, max_restarts)))
        from np2tf.transforms.sharding.cluster import initialize  # before any other use of TensorFlow

        initialize()
    for name, value in choices.items():
        setattr(config, name, value)
    device_name = _device(device) if device else None
    if report is not None or report_file is not None:
        try:
            from np2tf.cli.run_report import report_at_exit

            with installation.needed():
                report_at_exit(report or "text", report_file, may_have_tensors(main_program))
        except Exception as error:  # the program runs without a report
            note_fault(error)
    configuration = {**choices, **({"device": device_name} if device_name else {})}
    raise DeferredAction(lambda: _start(main_program, configuration, full_traceback))


def _start(program: Program, settings: dict[str, str], full_traceback: bool) -> None:
    """Run the program. Exceptions from here on are the program's own."""
    try:
        main = prepare(program)
    except CannotRun as error:
        _refuse(error)
    except SystemExit:
        raise
    except BaseException as error:  # a package of the program, imported to find the module, has failed
        show(error, whole=full_traceback)
        sys.exit(1)
    with on_device(settings.get("device")):
        execute(main, program, settings, "np2tf.loading.programs.spawned_process", whole=full_traceback)


def _refuse(error: CannotRun) -> NoReturn:
    click.echo(f"np2tf run: {error}\n  {error.remedy}", err=True)
    sys.exit(error.status)


def _device(name: str) -> str:
    """Return TensorFlow's name of a device; end the command if there is no device of this name."""
    try:
        with installation.needed():
            import tensorflow as tf
    except TensorFlowMissingError as error:
        raise click.ClickException(f"--device {name}: {error}") from None

    kind, _, number = name.removeprefix("/").removeprefix("device:").partition(":")
    device_name = f"{kind.upper()}:{number or 0}"
    have = [device.name.removeprefix("/device:") for device in tf.config.list_logical_devices()]
    if device_name not in have:
        _refuse(
            CannotRun("NP2TF934", name=name, devices=", ".join(device_kind.lower() for device_kind in have))
        )
    return f"/device:{device_name}"
