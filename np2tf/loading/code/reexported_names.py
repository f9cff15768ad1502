"""Checks at import that the names of NumPy which a module gets from other modules are NumPy's.

The translator has read it in the files of these modules (`np2tf.translator.sources.names_between_files`). A
program may still bind another object, by `compat.np = other` before the module is imported.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from np2tf import tnp

#: The name of `check` in translated modules.
CHECK = "_np2tf_check_reexport"
_ABSENT = object()


def check(value: object, qualified_name: str, or_none: bool) -> object:
    """Return NumPy's object for an imported object, which is NumPy's or the object of `tnp` in its place.

    Args:
        qualified_name: the name of the object in NumPy, such as `numpy` or `numpy.linalg.norm`.

    Raises:
        ImportError: if the program has bound another object to the name.
    """
    if value is None and or_none:
        return None
    numpy_object, tnp_object = _attribute(np, qualified_name), _attribute(tnp, qualified_name)
    if tnp_object is _ABSENT:  # the name is not translated
        return value
    if value is not tnp_object and value is not numpy_object:
        raise ImportError(f"a name that other files import as {qualified_name} is {value!r}")
    return numpy_object


def _attribute(module: object, qualified_name: str) -> object:
    """Return the object with a qualified name below NumPy in `module`, which stands for NumPy."""
    value = module
    for name in qualified_name.split(".")[1:]:
        value = getattr(value, name, _ABSENT)
    return value


#: The globals of translated modules. The value is not a function, because programs list the functions of
#: modules.
NAMES: dict[str, Any] = {CHECK: partial(check)}
