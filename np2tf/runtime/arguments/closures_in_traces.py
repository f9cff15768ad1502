"""Closures that staged code makes while it is traced: `dense(w)` returns a function that reads w.

Such a function is new in every trace. If its variables are arrays of the trace, constants and functions, and
the code that makes it is known, it reads nothing that the code around it does not read.
"""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from np2tf.runtime.arguments.value_kinds import BY_IDENTITY, BY_VALUE
from np2tf.runtime.introspection.stored_attributes import wrapped_function
from np2tf.tnp._array.ndarray import is_array, storage_of
from np2tf.tnp._front.front import Function
from np2tf.tnp._tensor.storage import current_scope

#: Values that do not change. A function among them is checked when it is called.
_CONSTANTS = (int, float, complex, np.generic, Function, *BY_VALUE, *BY_IDENTITY)
#: The depth of the search in tuples.
_DEEPEST = 4


def reads_no_further_values(function: Any) -> bool:
    """Return whether the closure variables and defaults are arrays of this trace, or constants."""
    if type(function) is not types.FunctionType:
        return False
    values = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    try:
        values += [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # a variable has no value yet
        return False
    return all(_is_known(value, _DEEPEST) for value in values)


def _is_known(value: Any, depth: int) -> bool:
    if is_array(value):
        scope, birth = current_scope(), storage_of(value).birth
        return scope is not None and birth is not None and birth.trace is scope.trace
    if isinstance(value, _CONSTANTS) or wrapped_function(value) is not None:
        return True
    return type(value) is tuple and depth > 0 and all(_is_known(item, depth - 1) for item in value)
