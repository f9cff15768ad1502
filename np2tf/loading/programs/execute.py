"""Executes a translated program as __main__, also in its child processes, with tracebacks as Python shows
them.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
import types
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from typing import Any

from np2tf.core.own_warnings import PACKAGE_FOLDER
from np2tf.core.settings import config
from np2tf.core.settings import program as state
from np2tf.loading.findings import warn_in_one_line
from np2tf.loading.programs.program import Main, Program, hook, module_main, script_main
from np2tf.loading.programs.startup_log import is_quiet, keep_quiet
from np2tf.translator.sources.options import Options

# -- tracebacks ----------------------------------------------------------------------------------------------
# Shows tracebacks of a program's own errors as Python does: without the frames that run the program.


def foreign_folders() -> tuple[str, ...]:
    """Return the folders whose frames do not help the author of a NumPy program: np2tf's and TensorFlow's."""
    folders = [PACKAGE_FOLDER]
    for name in ("tensorflow", "keras"):
        path = getattr(sys.modules.get(name), "__file__", None)
        if isinstance(path, str):
            folders.append(os.path.dirname(path))
    return tuple(folder + os.sep for folder in folders)


def trim_traceback(
    traceback: types.TracebackType | None, folders: tuple[str, ...]
) -> types.TracebackType | None:
    """Return the traceback without frames of files in `folders`."""
    entries: list[types.TracebackType] = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(folders):
            entries.append(traceback)
        traceback = traceback.tb_next
    result: types.TracebackType | None = None
    for entry in reversed(entries):
        result = types.TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def _is_inner(error: BaseException, folders: tuple[str, ...]) -> bool:
    """Return whether an exception never left np2tf, where it was caught, so that only its successor
    matters.
    """
    return trim_traceback(error.__traceback__, folders) is None or type(error).__module__.startswith(
        ("np2tf.", "tensorflow.")
    )


def trim(error: BaseException) -> None:
    """Remove the foreign frames from an exception and from the exceptions that it is chained to."""
    folders = foreign_folders()
    identities: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in identities:
        identities.add(id(current))
        # An error without a frame of the user's is a fault of np2tf, and keeps its whole traceback.
        current.__traceback__ = trim_traceback(current.__traceback__, folders) or current.__traceback__
        while current.__context__ is not None and _is_inner(current.__context__, folders):
            current.__context__ = current.__context__.__context__
        current = current.__cause__ or current.__context__


def show(error: BaseException, *, whole: bool = False) -> None:
    """Report an uncaught exception by the present `sys.excepthook`, which may raise SystemExit."""
    if whole:
        error.__traceback__ = error.__traceback__ and _without_ours(error.__traceback__)
    else:
        trim(error)
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException:  # as in Python: both errors are shown, and the program has failed anyway
        print("Error in sys.excepthook:", file=sys.stderr)
        traceback.print_exc()
        print("\nOriginal exception was:", file=sys.stderr)
        traceback.print_exception(error)
    if type(error).__module__ == "np2tf.core.errors":
        code = getattr(error, "code", "")
        print(f"np2tf run: {code} (np2tf explain {code} shows the remedy)", file=sys.stderr)


def _without_ours(traceback: types.TracebackType) -> types.TracebackType:
    """Return the traceback from the first frame that is not np2tf's; the whole traceback if there is none."""
    entry: types.TracebackType | None = traceback
    while entry is not None and entry.tb_frame.f_code.co_filename.startswith(PACKAGE_FOLDER + os.sep):
        entry = entry.tb_next
    return entry or traceback


# -- execute -------------------------------------------------------------------------------------------------
# Executes a translated program as `__main__`, and as the main module of the processes that it starts.

#: The environment variable that passes the program and its settings to processes started by
#: `multiprocessing`.
VARIABLE = "NP2TF_RUN"


def execute(
    main: Main, program: Program, settings: Mapping[str, str], child: str, *, whole: bool = False
) -> None:
    """Run the program's main module as `__main__`, and end as `python` would end.

    Args:
        settings: the settings of the configuration and of the device, for the processes that the program
            starts.
        child: the main module of processes that the program spawns.
        whole: whether tracebacks show np2tf's own frames.

    Raises:
        SystemExit: if the program exits, or fails.
        KeyboardInterrupt: if the user interrupts. The traceback has been shown, and the interpreter will end
            by that signal.
    """
    _prepare_children(main, program, settings, child)
    module = main.module("__main__")
    sys.modules["__main__"] = module
    try:
        exec(main.code, vars(module))
    except SystemExit:
        raise
    except KeyboardInterrupt as error:
        show(error, whole=whole)
        sys.excepthook = lambda *_: None
        raise
    except BaseException as error:
        show(error, whole=whole)
        sys.exit(1)


def on_device(device: str | None) -> ExitStack:
    """Return an entered TensorFlow device scope that lasts until it is closed, or an empty scope."""
    scope = ExitStack()
    if device:
        import tensorflow as tf

        scope.enter_context(tf.device(device))
    return scope


# -- processes that the program starts
# -----------------------------------------------------------------------------------------------------------


def _prepare_children(main: Main, program: Program, settings: Mapping[str, str], child: str) -> None:
    """Let processes that `multiprocessing` spawns run the program's main module translated, too.

    Such a process imports the main module by path or by name, without import hooks. So its main module is a
    module of np2tf that executes the program's main module. An environment variable passes it the settings.
    """
    # multiprocessing does not run the `__main__.py` of packages and folders, whose code often has no guard.
    guarded = os.path.basename(main.file) != "__main__.py"
    message = {
        "file": main.file if guarded and main.spec is None else None,
        "module": main.spec.name if guarded and main.spec is not None else None,
        "beside": main.beside,
        "package": main.package,
        "program": asdict(program),
        "settings": dict(settings),
        "quiet": is_quiet(),
        "starts_as_source": state.starts_as_source,
    }
    os.environ[VARIABLE] = json.dumps(message)
    import multiprocessing.spawn as spawn

    original: Callable[[str], dict[str, Any]] = spawn.get_preparation_data

    def preparation_data(name: str) -> dict[str, Any]:
        data = original(name)
        data.pop("init_main_from_path", None)
        return {**data, "init_main_from_name": child}

    spawn.get_preparation_data = preparation_data


def run_in_child(namespace: dict[str, Any]) -> None:
    """Execute the parent's main module, translated, in the namespace of a spawned process's main module."""
    message = json.loads(os.environ[VARIABLE])
    if message["quiet"]:
        keep_quiet()
    warn_in_one_line()
    fields: dict[str, Any] = _with_tuples(message["program"])
    program = Program(**{**fields, "options": Options(**_with_tuples(fields["options"]))})
    settings = dict(message["settings"])
    device = settings.pop("device", None)
    for name, value in settings.items():
        setattr(config, name, value)
    # The device scope lasts as long as the process.
    namespace["_np2tf_device"] = on_device(device)
    state.starts_as_source = message["starts_as_source"]
    hook(program, message["beside"], message["package"])
    if message["file"] is None and message["module"] is None:
        return
    of_module = message["file"] is None
    main = module_main(message["module"]) if of_module else script_main(message["file"], program.options)
    namespace.update(main.attributes())
    exec(main.code, namespace)


def _with_tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    """Data that were JSON, in which tuples are lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
