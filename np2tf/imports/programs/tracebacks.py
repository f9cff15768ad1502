"""Shows tracebacks of a program's own errors as Python does: without the frames that run the program."""

from __future__ import annotations

import os
import sys
import traceback
import types

from np2tf.imports.programs.program import PACKAGE_FOLDER


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
    """Report an uncaught exception to the user by the present `sys.excepthook`.

    Raises:
        SystemExit: if the program's own excepthook raises it.
    """
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
    if type(error).__module__ == "np2tf.staging":
        code = getattr(error, "code", "")
        print(f"np2tf run: {code} (np2tf explain {code} tells the remedy)", file=sys.stderr)


def _without_ours(traceback: types.TracebackType) -> types.TracebackType:
    """Return the traceback from the first frame that is not np2tf's; the whole traceback if there is none."""
    entry: types.TracebackType | None = traceback
    while entry is not None and entry.tb_frame.f_code.co_filename.startswith(PACKAGE_FOLDER + os.sep):
        entry = entry.tb_next
    return entry or traceback
