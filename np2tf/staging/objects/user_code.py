"""Whose code it is: installed packages, the user's frames on the stack, and the line to which an error
belongs.
"""

from __future__ import annotations

import ast
import linecache
import os
import re
import sys
import sysconfig
import types
import warnings
from typing import Any, NamedTuple

from np2tf.core.errors import CodedError, RecursionLimitError, StagingError
from np2tf.core.own_warnings import PACKAGE_FOLDER
from np2tf.core.settings import program

# -- libraries -----------------------------------------------------------------------------------------------
# Recognises installed packages that are not translated: np2tf does not follow calls into them.

_FOLDERS = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
#: Matches folders of packages outside this interpreter's own folders: an environment's base, a user's, the
#: system's.
_ELSEWHERE = re.compile(r"[/\\](site|dist)-packages[/\\]")


def is_of_library(value: Any) -> bool:
    """Return whether a function or class belongs to the standard library, or to an untranslated installed
    package.
    """
    name = getattr(value, "__module__", None) or ""
    if name.partition(".")[0] in sys.stdlib_module_names:
        return True
    module = sys.modules.get(name)
    if module is None or _is_translated(module):
        return False
    code = getattr(value, "__code__", None)
    path = code.co_filename if code is not None else getattr(module, "__file__", None) or ""
    return path.startswith(_FOLDERS) or _ELSEWHERE.search(path) is not None


def _is_translated(module: types.ModuleType) -> bool:
    """Return whether a module has been translated, in its file or at import."""
    # The main module of an IPython session has no spec.
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    np2tf_modules = (vars(module).get("np2tf"), vars(module).get("tnp"))
    return isinstance(loader, program.loaders) or any(
        getattr(module_read, "__name__", "").partition(".")[0] == "np2tf" for module_read in np2tf_modules
    )


# -- user frames ---------------------------------------------------------------------------------------------
# The user's frames on the stack, between which there are frames of np2tf and TensorFlow.

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Caller(NamedTuple):
    """A running line of the user's code.

    Attributes:
        names: the globals of its module.
    """

    path: str
    line: int
    function: str
    names: dict[str, Any]


def warn(
    message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **keywords: Any
) -> None:
    """Issue a warning like ``warnings.warn``; `stacklevel` counts only the user's frames, as if np2tf were
    absent.

    Args:
        message: the text, or an instance of Warning.
        category: a subclass of Warning; by default UserWarning, or the class of `message`.
        stacklevel: the number of user frames upwards; 1 is the caller's line.
        source: the destroyed object that caused a ResourceWarning.
        **keywords: further arguments of ``warnings.warn``, such as `skip_file_prefixes`.

    See https://docs.python.org/3/library/warnings.html#warnings.warn.
    """
    level, left = 1, stacklevel
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and left > 0:
        if not _is_of_import(frame):
            level += 1
            left -= not is_own(frame.f_code)
        frame = frame.f_back
    warnings.warn(message, category, level + left, source, **keywords)


def depth() -> int:
    """Return the number of frames on the stack, up to the caller of this function."""
    return len(_frames(sys._getframe(1)))


def callers(above: int = 0) -> list[Caller]:
    """Return the user's running functions in this thread, innermost first. A function with its helpers counts
    once.

    Args:
        above: the depth of the stack at which these functions begin.
    """
    entries: dict[tuple[str, int], Caller] = {}
    frames = _frames(sys._getframe(1))
    for frame in frames[: len(frames) - above]:
        if is_own(frame.f_code) or _is_of_tensorflow(frame) or _is_of_import(frame):
            continue
        code = frame.f_code
        name, first = _function_at(code.co_filename, frame.f_lineno, frame.f_globals) or (
            code.co_name,
            code.co_firstlineno,
        )
        entries.setdefault(
            (code.co_filename, first), Caller(code.co_filename, frame.f_lineno, name, frame.f_globals)
        )
    return list(entries.values())


def innermost() -> types.FrameType | None:
    """Return the user's frame that has called np2tf; None if there is none."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and (is_own(frame.f_code) or _is_of_tensorflow(frame)):
        frame = frame.f_back
    return frame


def _frames(top: types.FrameType) -> list[types.FrameType]:
    frame: types.FrameType | None = top
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def is_own(code: types.CodeType) -> bool:
    """Return whether code is np2tf's own."""
    return code.co_filename.startswith(PACKAGE_FOLDER + os.sep)


def _is_of_tensorflow(frame: types.FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).partition(".")[0] == "tensorflow"


def _is_of_import(frame: types.FrameType) -> bool:
    """Return whether `warnings.warn` does not count a frame either."""
    return "importlib" in frame.f_code.co_filename and "_bootstrap" in frame.f_code.co_filename


def _function_at(path: str, line: int, names: dict[str, Any]) -> tuple[str, int] | None:
    """Return the user's function around a line, and its first line, because a loop's helper has another
    name.
    """
    try:
        tree = ast.parse("".join(linecache.getlines(path, names)))
    except SyntaxError:
        return None
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS) and node.lineno <= line <= (node.end_lineno or line)
    ]
    if not around:
        return None
    # Outer functions come first.
    return getattr(around[-1], "name", "<lambda>"), around[-1].lineno


# -- error causes --------------------------------------------------------------------------------------------
# The cause of a failed staging that an error carries: a code, a message, and a line of the user's.


def first_line(error: Exception) -> str:
    """Return the first line of the error's message without its code, or the error's class if it has no
    message.
    """
    text = error.reason if isinstance(error, CodedError) else str(error)
    return (text.splitlines() or [""])[0] or type(error).__name__


def code_of(error: Exception) -> str:
    """Return the code of the diagnostic for an error."""
    kind = RecursionLimitError if isinstance(error, RecursionError) else StagingError
    return getattr(error, "code", kind.code)


def place_of(error: Exception, code: types.CodeType) -> tuple[str, int]:
    """Return the file and line that `error` names, or where it arose at or below this `code`."""
    place = getattr(error, "place", None)
    if place is not None:
        return place  # type: ignore[no-any-return]
    line, traceback = code.co_firstlineno, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == code.co_filename:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return code.co_filename, line
