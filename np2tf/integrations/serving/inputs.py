"""The kinds of arrays that a saved function accepts, written as `x: f64[?, 3]`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from np2tf.core.diagnostics import codes
from np2tf.core.late import tf

_SHORT = {"b": "bool", "f": "float", "i": "int", "u": "uint", "c": "complex"}
_INPUT = re.compile(r"\s*(?:([^\W\d]\w*)\s*:)?\s*([a-z]+\d*)\s*(?:\[([^\]]*)\])?\s*")


class InputError(ValueError):
    """Raised for an input that is not understood."""

    def __init__(self, reason: str) -> None:
        entry = codes()["NP2TF951"]
        super().__init__(f"NP2TF951 {entry.message.format(reason=reason)}. {entry.remedy}")


def spec_of(kind: Any, name: str | None = None) -> Any:
    """Return TensorFlow's specification of an input.

    Args:
        kind: a text such as ``"x: f64[?, 3]"``, a tf.TensorSpec, or an array or number of this kind.
        name: the name of an input without a name of its own.

    Raises:
        InputError: if the text is not understood, or TensorFlow has no such dtype.
    """
    if isinstance(kind, tf.TensorSpec):
        if kind.shape.rank is None:
            raise InputError(f"{kind} has an unknown number of axes")
        return tf.TensorSpec(kind.shape, kind.dtype, kind.name or name)
    if isinstance(kind, str):
        own_name, dtype, shape = _parse(kind)
        return tf.TensorSpec(shape, dtype, own_name or name)
    array = np.asarray(kind)
    return tf.TensorSpec(array.shape, _dtype(str(array.dtype), repr(kind)), name)


def _parse(text: str) -> tuple[str | None, Any, list[int | None]]:
    """Return the name, dtype and lengths in a text."""
    match = _INPUT.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is not of the form `NAME: DTYPE[LENGTHS]`")
    name, dtype, lengths = match.groups()
    words = [word.strip() for word in (lengths or "").split(",")]
    if words[-1] == "":
        words.pop()
    if any(word != "?" and not (word.isascii() and word.isdigit()) for word in words):
        raise InputError(f"a length in {text!r} is neither a number nor `?`")
    return name, _dtype(dtype, text), [None if word == "?" else int(word) for word in words]


def _dtype(name: str, text: str) -> Any:
    short = re.fullmatch(r"([fiuc])(\d+)", name)
    full = _SHORT[short[1]] + short[2] if short else name
    try:
        return tf.as_dtype(np.dtype(full))
    except TypeError:
        raise InputError(f"TensorFlow has no dtype {name!r}, which {text!r} names") from None


def signature_of(function: Callable[..., Any], inputs: Any) -> list[Any]:
    """Return the specifications of a function's arguments, in their order.

    Args:
        function: the function, whose parameters name the inputs.
        inputs: one input, or a sequence of them; see `spec_of`. Inputs with names go to the parameters of
            these names, other inputs to the parameters in order.

    Raises:
        InputError: if an input is malformed, or the function has no such parameters.
    """
    items = [inputs] if isinstance(inputs, (str, tf.TensorSpec, np.ndarray)) else list(inputs)
    specs = [spec_of(spec) for spec in items]
    parameters = _parameters(function, len(specs))
    specs_by_name = {spec.name: spec for spec in specs if spec.name is not None}
    unknown = [name for name in specs_by_name if name not in parameters]
    if unknown:
        raise InputError(f"the function has no parameter {unknown[0]!r}; its parameters are {parameters}")
    if len(specs_by_name) < sum(spec.name is not None for spec in specs):
        raise InputError("two inputs have the same name")
    specs_in_order = iter([spec for spec in specs if spec.name is None])
    signature: list[Any] = []
    for name in parameters[: len(specs)]:
        input_spec = specs_by_name.pop(name, None) or next(specs_in_order, None)
        if input_spec is None:
            break
        signature.append(tf.TensorSpec(input_spec.shape, input_spec.dtype, name))
    if specs_by_name or len(signature) < len(specs):
        raise InputError(f"the inputs are not the first {len(specs)} of the parameters {parameters}")
    return signature


def _parameters(function: Callable[..., Any], count: int) -> list[str]:
    """Return the names of the positional parameters; a variable parameter stands for the other inputs."""
    names: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{name}_{k}" for k in range(count - len(names))]
        elif parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(name)
            if parameter.default is parameter.empty and len(names) > count:
                raise InputError(f"the parameter {name!r} needs an input")
    return names


def signature_text(specs: Sequence[Any]) -> str:
    """Return a signature as text, as `spec_of` reads it."""
    return ", ".join(map(_kind_text, specs))


def _kind_text(spec: Any) -> str:
    lengths = ", ".join("?" if n is None else str(n) for n in spec.shape)
    kind = spec.dtype.name + (f"[{lengths}]" if spec.shape.rank else "")
    return f"{spec.name}: {kind}" if spec.name else kind


__all__ = ["InputError", "signature_of", "signature_text", "spec_of"]
