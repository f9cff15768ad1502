"""The process that runs one program of the page: `python -m np2tf.cli.play.child PROGRAM VALUES`.

The program runs as `__main__`. The arrays and numbers that its module holds at the end are saved for the
comparison.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
import traceback
from types import TracebackType
from typing import Any

#: The most bytes that a file of the program may have; this also holds for what it prints.
_FILE_SIZE = 1 << 26
#: The most elements of an array that is compared.
_ELEMENTS = 1 << 22
#: The kinds of dtypes that are compared: truth values, integers, floats and complex numbers.
_NUMBERS = "biufc"


def main(program: str, values: str) -> None:
    """Run a program, and save its values."""
    with contextlib.suppress(ImportError):  # Windows
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_SIZE, _FILE_SIZE))
    sys.argv = [program]
    sys.path[0] = os.path.dirname(program)
    try:
        names = runpy.run_path(program, run_name="__main__")
    except Exception as error:
        traceback.print_exception(error.with_traceback(_own_frames(error.__traceback__, program)))
        sys.stdout.flush()
        sys.exit(1)
    _save(names, values)


def _own_frames(trace: TracebackType | None, program: str) -> TracebackType | None:
    """Return a traceback from the program's first frame on; a mistake in its syntax has none."""
    while trace is not None and trace.tb_frame.f_code.co_filename != program:
        trace = trace.tb_next
    return trace


def _save(names: dict[str, Any], file: str) -> None:
    """Save the arrays and numbers among a module's public names."""
    import numpy as np

    arrays = {}
    for name, value in names.items():
        is_array = hasattr(value, "__array__") and hasattr(value, "dtype")
        if name.startswith("_") or not (is_array or isinstance(value, (bool, int, float, complex))):
            continue
        with contextlib.suppress(Exception):  # what is no array is not compared
            array = np.asarray(value)
            if array.dtype.kind in _NUMBERS and array.size <= _ELEMENTS:
                arrays[f"of {name}"] = array  # np.savez has parameters of its own
    np.savez(file, **arrays)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(*sys.argv[1:])
