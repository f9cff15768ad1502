"""From a NumPy signature to a TensorFlow implementation: the `op` decorator.

An implementation is a function over tensors whose signature is NumPy's. Its annotations are its normalisers:
`Array` makes a tensor of any operand, `DType` an np.dtype, and so on. The plan is compiled once, at
decoration. A call with host operands never reaches the implementation: NumPy's own function handles it.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections.abc import Callable, Container
from contextlib import nullcontext
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import tensorflow as tf

from np2tf.counts import counts
from np2tf.staging import ArrayClassError, PromotionError, StagingError, UnsupportedDtypeError
from np2tf.tnp._array.memory_order import ORDERS, Rule
from np2tf.tnp._array.ndarray import is_array, ndarray, scalar, wrap_tensor
from np2tf.tnp._array.sequences import StackableSequence
from np2tf.tnp._dispatch.eager_fast_path import FUNCTIONS, Direct
from np2tf.tnp._dispatch.out_argument import check_fit, check_memory, check_output, store_into
from np2tf.tnp._dispatch.residency import kept_in_kind, lifted, new_arrays_on_host, runs_on_host
from np2tf.tnp._dispatch.unknown_ranks import DOUBTFUL, over_ranks
from np2tf.tnp._dispatch.unknown_shapes import refusal, without_rank
from np2tf.tnp._front.fast_flags import fast_flags
from np2tf.tnp._front.front import CREATES
from np2tf.tnp._front.operand_kinds import surroundings
from np2tf.tnp._masked.operations import on_selections
from np2tf.tnp._operands.array_protocol import calling_numpy
from np2tf.tnp._operands.axis_arguments import checked_rank
from np2tf.tnp._operands.conversion import as_tensor, as_view, refuse_to_lose_gradient, to_numpy
from np2tf.tnp._operands.promotion import has_tf_dtype
from np2tf.tnp._tensor.storage import staging_for_xla

F = TypeVar("F", bound=Callable[..., Any])

#: NumPy function -> the op that replaces it, for `__array_function__`.
OPS: dict[Any, Callable[..., Any]] = {}


# -- normalisers: the conversion of an argument by its annotation
# ----------------------------------------------------------


def _operand(value: Any) -> Any:
    """Return a Python number unchanged, because it is weak in promotion; any other operand as a tensor."""
    kind = type(value)
    if kind in (int, float, complex) or (kind is scalar and value.weak is not None) or value is None:
        return value
    return as_tensor(value)


def _operands(values: Any) -> list[Any]:
    if isinstance(values, (list, tuple)):
        return [_operand(value) for value in values]
    if isinstance(values, StackableSequence):
        return values  # type: ignore[return-value]
    tensor = as_tensor(values)
    if tensor.shape.rank == 0:
        raise TypeError("iteration over a 0-d array")
    return list(tf.unstack(tensor))


def _optional_tensor(value: Any) -> tf.Tensor | None:
    return None if value is None else as_tensor(value)


def _dtype(value: Any) -> np.dtype[Any] | None:
    if value is None:
        return None
    dtype = np.dtype(value.as_numpy_dtype if isinstance(value, tf.DType) else value)
    if not has_tf_dtype(dtype) or not dtype.isnative:
        raise UnsupportedDtypeError.of(dtype=dtype)
    return dtype


def _int(value: Any) -> int:
    return value if type(value) is int else operator.index(value)


def _optional_int(value: Any) -> int | None:
    return None if value is None else _int(value)


def _axis(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(operator.index(item) for item in value)
    return value if value is None else operator.index(value)


def _length(value: Any) -> Any:
    if isinstance(value, bool):
        raise TypeError("an integer is required")
    if type(value) is scalar and tf.get_static_value(value.tensor) is None:
        return value.tensor
    return operator.index(value)


def shape_of(value: Any) -> tuple[Any, ...]:
    """Return the lengths of axes as numbers; lengths that are known only at run time are tensors."""
    if isinstance(value, (tf.Tensor, np.ndarray)) or (is_array(value) and value.ndim == 1):
        return tuple(operator.index(n) for n in to_numpy(value))
    if isinstance(value, (tuple, list, tf.TensorShape)):
        checked_rank(len(value))
        return tuple(_length(item) for item in value)
    return (_length(value),)


def bounded_shape_of(value: Any) -> tuple[Any, ...]:
    """Return a shape as `shape_of` does; under XLA, lengths with a known bound become symbolic integers."""
    if not staging_for_xla() or isinstance(value, (tf.Tensor, np.ndarray, tf.TensorShape)):
        return shape_of(value)
    if not isinstance(value, (tuple, list)):
        return (_bounded_length(value),)
    checked_rank(len(value))
    return tuple(map(_bounded_length, value))


def _bounded_length(value: Any) -> Any:
    length = _length(value)
    known = value.known if isinstance(length, tf.Tensor) and type(value) is scalar else None
    return length if known is None or known.high is None else known


def checked_device(value: Any) -> Any:
    """Return the name of a device in the form that `x.device` shows.

    Raises:
        ValueError: the machine has no device of that name.
    """
    if value not in (None, "cpu") and not (value == "gpu" and surroundings.has_accelerator):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {value}')
    return value


def memory_order(value: Any) -> str | None:
    """Return the letter of a memory order as a capital; None is returned as None.

    Raises:
        TypeError, ValueError: NumPy's errors, for a value that is not an order.
    """
    if value is None:
        return None
    letter = value.decode() if isinstance(value, bytes) else value
    if not isinstance(letter, str):
        raise TypeError(f"order must be str, not {type(value).__name__}")
    if letter.upper() not in _LETTERS:
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{letter}')")
    return letter.upper()


_LETTERS = frozenset("CFAK")


#: Member of NumPy's enumeration -> the value of `copy=` that it stands for.
_COPY_MODES = {np._CopyMode.ALWAYS: True, np._CopyMode.NEVER: False, np._CopyMode.IF_NEEDED: None}  # type: ignore[attr-defined]


def copy_mode(value: Any) -> bool | None:
    """Return the meaning of an argument `copy`: True, False, or None for a copy only if necessary.

    Raises:
        ValueError: the argument is a string.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        raise ValueError("strings are not allowed for 'copy' keyword. Use True/False/None instead.")
    return _COPY_MODES[value] if isinstance(value, np._CopyMode) else bool(value)  # type: ignore[attr-defined]


def _c_or_f(value: Any) -> str | None:
    letter = memory_order(value)
    if letter not in ("C", "F", None):
        raise ValueError("only 'C' or 'F' order is permitted")
    return letter


Array = Annotated[tf.Tensor, as_tensor]
Operand = Annotated[Any, _operand]
Operands = Annotated[list[Any], _operands]
OptionalArray = Annotated[Any, _optional_tensor]
View = Annotated[ndarray, as_view]
DType = Annotated[Any, _dtype]
Axis = Annotated[Any, _axis]
Int = Annotated[Any, _int]
OptionalInt = Annotated[Any, _optional_int]
Shape = Annotated[tuple[Any, ...], shape_of]
BoundedShape = Annotated[tuple[Any, ...], bounded_shape_of]
MemoryOrder = Annotated[Any, memory_order]
COrF = Annotated[Any, _c_or_f]


# -- the plan ------------------------------------------------------------------------------------------------


class _Everything:
    """The set of all names: the parameters of a function whose signature is not known."""

    def __contains__(self, name: object) -> bool:
        return True


def _parameters_of(numpy: Callable[..., Any]) -> Container[str]:
    try:
        parameters = inspect.signature(numpy).parameters
    except ValueError:  # before NumPy 2.4 its functions in C have no signature
        return _Everything()
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    return _Everything() if takes_any else parameters


def positional_only(numpy: Callable[..., Any], implementation: Callable[..., Any]) -> set[str]:
    """Return the parameters that NumPy's function takes by position only; if unknown, those of the
    implementation.
    """
    try:
        signature = inspect.signature(numpy)
    except ValueError:  # before NumPy 2.4 its functions in C have no signature
        signature = inspect.signature(implementation)
    parameters = signature.parameters.values()
    return {one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_ONLY}


class _Plan:
    """A signature compiled to rows (name, normaliser, default); it has the installed NumPy's parameters."""

    def __init__(self, implementation: Callable[..., Any], numpy: Callable[..., Any]) -> None:
        hints = get_type_hints(implementation, include_extras=True)
        self.name = implementation.__name__
        #: The rule that gives results their memory order, if they are not always in C order.
        self.rule: Rule | None = None
        self.rows: list[tuple[str, Callable[[Any], Any] | None, Any]] = []
        self.variadic: Callable[[Any], Any] | None = None
        self.keyword_only = 0
        known = _parameters_of(numpy)
        for parameter in inspect.signature(implementation).parameters.values():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name not in known:
                continue
            hint = hints.get(parameter.name)
            normaliser = get_args(hint)[1] if get_origin(hint) is Annotated else None
            if parameter.name == "device":
                normaliser = checked_device
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                self.variadic = normaliser or (lambda value: value)
            else:
                self.rows.append((parameter.name, normaliser, parameter.default))
                self.keyword_only += parameter.kind is inspect.Parameter.KEYWORD_ONLY
        # Parameters that NumPy takes by position only must not be keywords here, either.
        self.names = {name for name, _, _ in self.rows} - positional_only(numpy, implementation)
        self.order = [name for name, _, _ in self.rows]
        #: The number of arguments before `out`, which NumPy also takes by position.
        positional = [] if self.variadic else self.order[: len(self.order) - self.keyword_only]
        self.before_out = positional.index("out") if "out" in positional else sys.maxsize

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the normalised arguments by position and by keyword.

        Raises:
            TypeError: the arguments do not fit NumPy's signature.
        """
        unknown = kwargs.keys() - self.names
        if unknown:
            raise TypeError(f"{self.name}() got an unexpected keyword argument {min(unknown)!r}")
        if self.variadic is not None:
            by_name = {name: (normaliser, default) for name, normaliser, default in self.rows}
            extra = {name: self._one(value, by_name[name][0]) for name, value in kwargs.items()}
            return [self.variadic(arg) for arg in args], extra
        positional = len(self.rows) - self.keyword_only
        if len(args) > positional:
            raise TypeError(
                f"{self.name}() takes {positional} positional arguments but {len(args)} were given"
            )
        twice = kwargs.keys() & self.order[: len(args)] if kwargs else None
        if twice:
            raise TypeError(f"{self.name}() got multiple values for argument {min(twice)!r}")
        values = []
        for k, (name, normaliser, default) in enumerate(self.rows):
            value = args[k] if k < len(args) else kwargs.get(name, default)
            if value is inspect.Parameter.empty:
                raise TypeError(f"{self.name}() missing required argument {name!r}")
            values.append(value if value is default and k >= len(args) else self._one(value, normaliser))
        named = {
            row[0]: value for row, value in zip(self.rows[positional:], values[positional:], strict=True)
        }
        return values[:positional], named

    @staticmethod
    def _one(value: Any, normaliser: Callable[[Any], Any] | None) -> Any:
        return value if normaliser is None else normaliser(value)


# -- the decorator
# -----------------------------------------------------------------------------------------------


def on_host(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call NumPy's own function. A result that NumPy writes to `out` is written to the given array."""
    if not kwargs:
        return kept_in_kind(calling_numpy(function, args, {}), args, kwargs)
    named = {name: to_numpy(value) for name, value in kwargs.items()}
    out = kwargs.get("out")
    if isinstance(out, np.ndarray) and not is_array(out):
        refuse_to_lose_gradient(args)
    result = calling_numpy(function, args, named)
    if out is None or out is Ellipsis or any(map(_answers_itself, out if isinstance(out, tuple) else (out,))):
        return kept_in_kind(result, args, kwargs)
    if type(out) is not tuple or type(result) is tuple:
        return _written(out, named["out"], result)
    return _written(out[0], named["out"][0], result)


def _written(out: Any, copy: Any, result: Any) -> Any:
    """Return the result of a call that wrote to `copy` in place of `out`: `out`, or an operand's result."""
    if type(out) is tuple:
        return tuple(map(_written, out, copy, result))
    if out is None:
        return lifted(result)
    stored = write_back(out, copy)
    return stored if type(result) is np.ndarray or isinstance(result, np.generic) else result


def _answers_itself(out: Any) -> bool:
    """Return whether an output belongs to another class, which itself decides the result."""
    return out is not None and not isinstance(out, (np.ndarray, tf.Tensor, tf.Variable))


def write_back(target: Any, written: Any) -> Any:
    """Store in `target` what NumPy wrote into `written`, and return the object to continue with.

    Args:
        target: the object that the program gave: an array, a tensor or a variable, or a list or tuple of
            these.
        written: the np.ndarray that NumPy wrote to in its place.
    """
    if type(target) in (tuple, list):
        return type(target)(map(write_back, target, written))
    if is_array(target):
        target.store(tf.constant(written))
        return target
    if isinstance(target, tf.Variable):
        target.assign(written)
        return target
    return tf.constant(written) if isinstance(target, tf.Tensor) else target


def op(
    numpy: Callable[..., Any], *, method: bool | str = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a NumPy function of an implementation over tensors.

    The annotations of the implementation say how arguments are converted. The implementation returns tensors,
    arrays, or tuples and lists of them; the decorator handles `out`. The implementation raises StagingError
    for cases that it leaves to NumPy: in eager code the call then runs on the host, and while staging the
    error ends the staging.

    Args:
        numpy: NumPy's function, which runs on host operands.
        method: whether ``x.name(...)`` is the same operation, or the method's name if that is different.
    """

    def decorate(implementation: Callable[..., Any]) -> Callable[..., Any]:
        plan = _Plan(implementation, numpy)
        made = _placing(implementation, plan) if "device" in plan.names else implementation
        direct = FUNCTIONS.get(numpy)
        plan.rule = ORDERS.get(numpy)
        creates = f"{numpy.__module__}.{numpy.__name__}".removeprefix("numpy.") in CREATES

        @functools.wraps(implementation)
        def call(*args: Any, **kwargs: Any) -> Any:
            if direct is not None and not kwargs and fast_flags.unstaged:
                result = _directly(direct, args)
                if result is not None:
                    return result
            if (new_arrays_on_host() or not creates) and runs_on_host(args, kwargs):
                return on_host(numpy, args, kwargs)
            return _on_tensors(made, plan, numpy, args, kwargs)

        call.numpy = numpy  # type: ignore[attr-defined]
        OPS[numpy] = call
        if method:
            attach(method if isinstance(method, str) else implementation.__name__, call)
        return call

    return decorate


def _placing(implementation: Callable[..., Any], plan: _Plan) -> Callable[..., Any]:
    """Wrap an implementation so that eager code makes its array on the device that the call names."""
    position = plan.order.index("device")

    def call(*values: Any, **named: Any) -> Any:
        device = values[position] if position < len(values) else named.get("device")
        with tf.device(device) if device is not None and tf.executing_eagerly() else nullcontext():
            return implementation(*values, **named)

    return call


def _directly(direct: Direct, args: tuple[Any, ...]) -> Any:
    """Return the result of a call that one kernel computes; None leaves the call to the general path."""
    try:
        result = direct(args)
    except LEFT_TO_NUMPY:
        return None
    counts.eager += result is not None
    return result


#: Functions that compute in the dtype of `out` if they are given no dtype.
_TYPED_BY_OUTPUT = frozenset({np.sum, np.prod, np.cumsum, np.cumprod})
#: Functions that take either a dtype or an output, and compute in the dtype of the output.
_JOINING = frozenset({np.concatenate, np.stack})


def _on_tensors(
    implementation: Callable[..., Any],
    plan: _Plan,
    numpy: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    if len(args) > plan.before_out:
        kwargs = {**kwargs, **dict(zip(plan.order[plan.before_out :], args[plan.before_out :]))}
        args = args[: plan.before_out]
    out = kwargs.get("out")
    given = {name: value for name, value in kwargs.items() if name != "out"} if out is not None else kwargs
    if out is not None:
        check_memory(numpy, out)
    staging = not tf.executing_eagerly()
    if staging and staging_for_xla():
        again = functools.partial(_on_tensors, implementation, plan, numpy)
        selected = on_selections(plan.name, lambda *a, **k: again(a, k), args, kwargs)
        if selected is not None:
            return selected
    try:
        if out is not None:
            given = _typed_by_output(numpy, out, args, given)
        if given.get("like") is not None and not is_array(given["like"]):
            raise ArrayClassError("like= with an object whose __array_function__ NumPy calls")
        values, extra = plan.bind(args, given)
        values = without_rank(plan.name, plan.order, values) if staging else values
        result = wrap_tensor(implementation(*values, **extra))
        if out is not None:
            check_fit(numpy, out, result)
        if plan.rule is not None and out is None:
            result = plan.rule(result, args, given)
        stored = result if out is None else store_into(out, result, kwargs.get("casting", "same_kind"))
    except LEFT_TO_NUMPY as error:
        if staging:
            again = functools.partial(_on_tensors, implementation, plan, numpy)
            return over_ranks(lambda *a, **k: again(a, k), args, kwargs, refusal(error, plan.name, args))
        if not repeatable(error, args):
            raise
    else:
        counts.eager += not staging
        return stored
    return left_to_numpy(numpy, args, kwargs)


def _typed_by_output(
    numpy: Callable[..., Any], out: Any, args: tuple[Any, ...], given: dict[str, Any]
) -> dict[str, Any]:
    """Return the arguments by keyword, with the dtype of `out` for functions that compute in it."""
    check_output(out)
    joins = numpy in _JOINING
    if joins and given.get("dtype") is not None:
        raise TypeError("only one of `out` and `dtype` may be given")
    if joins or (numpy in _TYPED_BY_OUTPUT and given.get("dtype") is None and len(args) < 3):
        return {**given, "dtype": out.dtype}
    return given


#: Errors of an operation on tensors: for a case that it does not handle, or for a wrong argument. In eager
#: code NumPy then computes the result, or raises its own error.
LEFT_TO_NUMPY = (StagingError, tf.errors.OpError, TypeError, ValueError, IndexError, OverflowError)


def repeatable(error: Exception, args: tuple[Any, ...]) -> bool:
    """Return whether a call may be repeated after `error`: functions among its arguments must run once."""
    if isinstance(error, PromotionError):
        return False
    if isinstance(error, (StagingError, tf.errors.OpError)):
        return True
    return not any(callable(arg) and not isinstance(arg, type) for arg in args)


def left_to_numpy(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call NumPy's function and return its result. A call that succeeds is counted as work on the host."""
    result = on_host(function, args, kwargs)
    counts.host += 1
    return result


def attach(name: str, function: Callable[..., Any]) -> None:
    """Make ``x.name(*args)`` call `function(x, *args)`."""

    def method(self: ndarray, /, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(self, *args, **kwargs)
        except DOUBTFUL as error:
            return over_ranks(function, (self, *args), kwargs, error)

    # `inspect.signature` shows NumPy's signature.
    method.__wrapped__ = getattr(np.ndarray, name, function)  # type: ignore[attr-defined]
    method.__name__ = name
    method.__doc__ = function.__doc__
    setattr(ndarray, name, method)
