"""Runs one source text in four ways: on NumPy, and translated (unjitted, on tensors, and compiled).

NumPy is the reference for values, dtypes, shapes and types of results, for the class and message of an
exception, and for the contents of every argument afterwards.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import sys
import types
import warnings
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Any
from unittest.mock import patch

import numpy as np
import tensorflow as tf

import np2tf
from np2tf.arrays.array.ndarray import is_array, scalar
from np2tf.core.counts import counts
from np2tf.staging.host.jit import JittedFunction, UnjittedWarning
from np2tf.staging.objects.user_objects import attributes
from np2tf.translator.facts.array_work import ArrayWork

#: The head of a module, which only mentions NumPy.
HEAD = "import numpy as np\n\nEPSILON = np.float64(1e-9)\n\n\n"
#: name of a way to run a translation -> settings of np2tf.config
WAYS = {
    "unjitted": {"jit": "off"},
    "tensors": {"jit": "off", "eager": "tensorflow"},
    "jitted": {"jit": "on", "tier": "compile"},
}
_numbers = count()


@dataclass
class Outcome:
    """The outcome of one run, as plain data that can be compared."""

    result: Any = None
    error: tuple[str, str] | None = None
    arguments: Any = None
    aliases: Any = None
    printed: str = ""
    warnings: list[str] = field(default_factory=list)
    ran: str = ""

    def differs_from(self, other_outcome: Outcome) -> str | None:
        """Return the first difference, None if there is none."""
        for name in ("error", "printed", "result", "arguments", "aliases"):
            own_value, other_value = getattr(self, name), getattr(other_outcome, name)
            if not alike(own_value, other_value):
                return f"{name}: {other_value!r} on NumPy, {own_value!r} translated"
        return None


def described(value: Any, around: tuple[Any, ...] = ()) -> Any:
    """Return a result as nested tuples: the kind of value, its dtype and its contents.

    Args:
        value: the value to describe.
        around: the objects that contain the value as an attribute.
    """
    if is_array(value):
        if isinstance(value, scalar):
            return described(value.numpy()[()])
        return described(value.numpy())
    if isinstance(value, np.ndarray):
        return ("array", str(value.dtype), value.shape, value.copy())
    if isinstance(value, np.generic):
        return ("number", str(value.dtype), (), np.asarray(value))
    if isinstance(value, (bool, int, float, complex)):
        return ("number", f"python {type(value).__name__}", (), value)
    if isinstance(value, tf.Tensor):
        return ("tensor", value.dtype.name, tuple(value.shape), value.numpy())
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *[described(item, around) for item in value])
    if isinstance(value, dict):
        return ("dict", *[(key, described(item, around)) for key, item in value.items()])
    held = attributes(value)
    if any(value is container for container in around) or not held:
        told = repr(value) if type(value).__repr__ is not object.__repr__ else ""
        return ("object", type(value).__name__ if held else told)
    inside = [(name, described(item, (*around, value))) for name, item in sorted(held.items())]
    return ("object", type(value).__name__, *inside)


def alike(a: Any, b: Any) -> bool:
    """Return whether two descriptions are equal; floats may differ by rounding."""
    if type(a) is tuple and type(b) is tuple:
        if len(a) == 4 and len(b) == 4 and a[0] in ("array", "number"):
            return a[:3] == b[:3] and _close(a[3], b[3])
        return len(a) == len(b) and all(alike(m, n) for m, n in zip(a, b))
    if isinstance(a, (np.ndarray, np.generic)) or isinstance(b, (np.ndarray, np.generic)):
        return False
    return bool(a == b)


def _close(a: Any, b: Any) -> bool:
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    dtype = np.asarray(a).dtype
    if dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    rtol = 2e-5 if dtype.itemsize <= (4 if dtype.kind == "f" else 8) else 1e-11
    return bool(np.allclose(a, b, rtol=rtol, atol=rtol, equal_nan=True))


def promoted(description: Any) -> Any:
    """Return a description in which numbers of Python and NumPy are the same kind of number."""
    if type(description) is not tuple:
        return description
    if description and description[0] == "number":
        return ("number", "", (), np.asarray(description[3], np.complex128))
    return tuple(map(promoted, description))


def _shareable(value: Any, around: tuple[Any, ...] = ()) -> list[Any]:
    """Return the arrays and objects in a value."""
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in _shareable(item, around)]
    if isinstance(value, dict):
        return _shareable(list(value.values()), around)
    if is_array(value):
        return [] if isinstance(value, scalar) else [value]
    if isinstance(value, np.ndarray):
        return [value]
    held = attributes(value)
    if not held or any(value is container for container in around):
        return []
    return [value, *_shareable([item for _, item in sorted(held.items())], (*around, value))]


def sharing(result: Any, arguments: Any) -> Any:
    """Return which arrays and objects of the result and the arguments share memory with each other."""
    parts = [*_shareable(result), *_shareable(arguments)]
    return tuple(_shared(a, b) for k, a in enumerate(parts) for b in parts[k + 1 :])


def _shared(a: Any, b: Any) -> bool:
    if not all(is_array(x) or isinstance(x, np.ndarray) for x in (a, b)):
        return a is b
    if is_array(a) or is_array(b):
        return is_array(a) and is_array(b) and a.storage_and_chain()[0] is b.storage_and_chain()[0]
    return bool(np.shares_memory(a, b))


@cache
def translation(source: str) -> str:
    """Return the translated text, in which every function that can be staged is staged, even if it does not
    pay.
    """
    with patch.object(ArrayWork, "pays", True):
        return np2tf.convert(source).text


def load(text: str | bytes) -> dict[str, Any]:
    """Execute a module's text so that its lines appear in tracebacks."""
    name = f"<program {next(_numbers)}>"
    if isinstance(text, str):
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    sys.modules.setdefault("program", types.ModuleType("program"))  # dataclasses look up their module
    space: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, name, "exec"), space)
    return space


def arguments_of(text: str, space: dict[str, Any] | None = None) -> tuple[Any, ...]:
    """Return new arguments from their text, such as ``np.arange(3.), 2``, or a call of a function of the
    module.
    """
    names = {**(space or {}), "np": np, "tnp": np2tf.tnp, "tf": tf}
    return eval(f"({text},)" if text.strip() else "()", names)


def observe(function: Any, args: tuple[Any, ...]) -> Outcome:
    """Call the function, and describe the outcome."""
    out = Outcome()
    before = counts.compiled + counts.graph, counts.host, counts.unjitted
    printed = io.StringIO()
    with (
        warnings.catch_warnings(record=True) as caught,
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(printed),
    ):
        warnings.simplefilter("always")
        try:
            result = function(*args)
        except Exception as error:
            out.error = (type(error).__name__, str(error))
        else:
            out.result = described(result)
            out.aliases = sharing(result, args)
    out.printed = printed.getvalue()
    out.arguments = described(args)
    out.warnings = [str(warning.message) for warning in caught if warning.category is UnjittedWarning]
    compiled, fallbacks = counts.compiled + counts.graph - before[0], counts.unjitted - before[2]
    out.ran = "fallback" if fallbacks or out.warnings else "compiled" if compiled else "host"
    return out


def compare(
    source: str,
    *calls: str,
    name: str = "f",
    ran: str | None = "compiled",
    ways: tuple[str, ...] = tuple(WAYS),
    messages: bool = True,
    aliases: bool = True,
    number_types: bool = True,
) -> None:
    """Run ``name(call)`` for every text of arguments, in order in one module, in all ways.

    Args:
        source: a module's text.
        calls: the texts of arguments.
        name: the function.
        ran: the way in which the jitted version must have run each call: "compiled", "fallback", "host"; None
            for any.
        ways: the ways to run.
        messages: compare the messages of exceptions too.
        aliases: compare memory sharing (only if arrays live on the host).
        number_types: distinguish numbers of Python and NumPy; a loop or branch may widen a number's
            type.
    """
    reference = load(source)
    expected = [observe(reference[name], arguments_of(call, reference)) for call in calls]
    text = translation(source)
    problems = []
    for way in ways:
        with np2tf.config.using(**WAYS[way]):
            space = load(text)
            function = space[name]
            if way == "jitted" and not isinstance(function, JittedFunction) and ran not in (None, "host"):
                problems.append(f"{name} is not jitted")
            for call, wanted in zip(calls, expected):
                found = observe(function, arguments_of(call, space))
                if not messages and found.error and wanted.error:
                    found.error, wanted.error = found.error[:1], wanted.error[:1]  # type: ignore[assignment]
                if way == "tensors" or not aliases:
                    found.aliases = wanted.aliases
                if not number_types:
                    found.result, wanted.result = promoted(found.result), promoted(wanted.result)
                    found.arguments, wanted.arguments = promoted(found.arguments), promoted(wanted.arguments)
                difference = found.differs_from(wanted)
                if difference:
                    problems.append(f"{way}, {name}({call}): {difference} {found.warnings}")
                if way == "jitted" and ran is not None and wanted.error is None and found.ran != ran:
                    problems.append(f"{name}({call}) ran {found.ran}, not {ran}: {found.warnings}")
    assert not problems, "\n".join([*problems, "", text])
