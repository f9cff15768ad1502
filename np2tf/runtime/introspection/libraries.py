"""Recognises installed packages that are not translated: np2tf does not follow calls into them."""

from __future__ import annotations

import re
import sys
import sysconfig
import types
from typing import Any

from np2tf.config import program

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
