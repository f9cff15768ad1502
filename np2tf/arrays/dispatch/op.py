"""From a NumPy signature to a TensorFlow implementation: op, and the annotations that convert arguments."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections.abc import Callable, Container
from contextlib import nullcontext
from typing import Annotated, Any, TypeVar, get_args, get_origin

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import ORDERS, Rule
from np2tf.arrays.array.ndarray import arrays_of_rows, is_array, ndarray, scalar, wrap_tensor
from np2tf.arrays.array.sequences import StackableSequence, is_number_sequence, operand_of
from np2tf.arrays.dispatch.eager_fast_path import FUNCTIONS, Direct
from np2tf.arrays.dispatch.out_argument import (
    casting_into,
    check_fit,
    check_memory,
    store_into,
    take_dtype_of_output,
)
from np2tf.arrays.dispatch.placement import keep_kind, move_to_tensorflow, new_arrays_on_host, runs_on_host
from np2tf.arrays.dispatch.unknown_shapes import DOUBTFUL, flatten_unknown_rank, refusal, retry_for_each_rank
from np2tf.arrays.front.flags import fast_flags
from np2tf.arrays.front.numpy_functions import CREATES, WRITES
from np2tf.arrays.front.residency import device_kind
from np2tf.arrays.indexing.selection_operations import apply_to_selections
from np2tf.arrays.operands.axes import checked_rank
from np2tf.arrays.operands.conversion import (
    as_tensor,
    as_view,
    call_with_protocol,
    refuse_to_lose_gradient,
    to_numpy,
)
from np2tf.arrays.operands.differentiated_values import refuse_host_result
from np2tf.arrays.operands.promotion import has_tf_dtype
from np2tf.arrays.tensors.dtype_dispatch import hidden_from_others
from np2tf.arrays.tensors.storage import staging_for_xla
from np2tf.core.counts import counts
from np2tf.core.errors import (
    ArrayClassError,
    NoGraphFormError,
    PromotionError,
    StagingError,
    UnsupportedDtypeError,
)

# -- argument types ------------------------------------------------------------------------------------------
# Normalisers: the conversion of an argument by its annotation.


def _tensor(value: Any) -> tf.Tensor:
    """Return an argument as a tensor; constants stay visible, because ops look at their values."""
    tensor = as_tensor(value)
    if tf.executing_eagerly() or (not hasattr(tensor, "numpy") and tensor.op.type == "Const"):
        return tensor
    return hidden_from_others(tensor)


def _operand(value: Any) -> Any:
    """Return a Python number as it is, because it is weak in promotion; any other operand as a tensor."""
    kind = type(value)
    if kind in (int, float, complex) or (kind is scalar and value.weak is not None) or value is None:
        return value
    return _tensor(operand_of(value))


def _operands(values: Any) -> list[Any]:
    if isinstance(values, (list, tuple)):
        return [_operand(value) for value in values]
    if isinstance(values, StackableSequence):
        return values  # type: ignore[return-value]
    if type(values) in arrays_of_rows:
        return [_operand(row) for row in values]
    tensor = as_tensor(values)
    if tensor.shape.rank == 0:
        raise TypeError("iteration over a 0-d array")
    return list(tf.unstack(tensor))


def _optional_tensor(value: Any) -> tf.Tensor | None:
    return None if value is None else _tensor(value)


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
    integer = value.staged_integer if isinstance(length, tf.Tensor) and type(value) is scalar else None
    return length if integer is None or integer.high is None else integer


def checked_device(value: Any) -> Any:
    """Return the name of a device as `x.device` shows it."""
    if value not in (None, "cpu") and not (value == "gpu" and device_kind() != "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {value}')
    return value


def memory_order(value: Any) -> str | None:
    """Return the letter of a memory order as a capital; None stays None.

    Raises:
        TypeError, ValueError: NumPy's errors, for a value that is no order.
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


#: NumPy's `copy=` by the members of the enumeration that it also takes.
_COPY_MODES = {np._CopyMode.ALWAYS: True, np._CopyMode.NEVER: False, np._CopyMode.IF_NEEDED: None}  # type: ignore[attr-defined]


def copy_mode(value: Any) -> bool | None:
    """Return the meaning of an argument `copy`: True, False, or None for a copy only if it is needed."""
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


Array = Annotated[tf.Tensor, _tensor]


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


#: The conversions of arguments that NumPy takes as arrays, whatever sequence they are.
OF_ARRAYS = frozenset({_tensor, as_view, _operand, _optional_tensor})


# -- op ------------------------------------------------------------------------------------------------------
# From a NumPy signature to a TensorFlow implementation: the `op` decorator.
#
# An implementation is a function over tensors whose signature is NumPy's. Its annotations are its
# normalisers: `Array` makes a tensor of whatever is given, `DType` an np.dtype, and so on. The plan is
# compiled once, at decoration. A call with host operands never reaches the implementation: it is NumPy's
# own function.

F = TypeVar("F", bound=Callable[..., Any])

#: NumPy function -> the op that stands for it, for `__array_function__`.
OPS: dict[Any, Callable[..., Any]] = {}


#: The names of functions that write to a parameter, which must be an array.
_WRITERS = frozenset(name.rpartition(".")[2] for name in WRITES)


# -- the plan ------------------------------------------------------------------------------------------------


class _AllNames:
    """The set of all names: the parameters of a function whose signature is not known."""

    def __contains__(self, name: object) -> bool:
        return True


def _parameters_of(numpy: Callable[..., Any]) -> Container[str]:
    try:
        parameters = inspect.signature(numpy).parameters
    except ValueError:  # before NumPy 2.4 its functions in C have no signature
        return _AllNames()
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    return _AllNames() if takes_any else parameters


def positional_only(numpy: Callable[..., Any], implementation: Callable[..., Any]) -> set[str]:
    """Return the parameters that NumPy's function takes by position only; if unknown, the parameters of
    the implementation.
    """
    try:
        signature = inspect.signature(numpy)
    except ValueError:  # before NumPy 2.4 its functions in C have no signature
        signature = inspect.signature(implementation)
    parameters = signature.parameters.values()
    return {parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.POSITIONAL_ONLY}


class _Plan:
    """A signature compiled to rows (name, normaliser, default); it has the installed NumPy's parameters."""

    def __init__(self, implementation: Callable[..., Any], numpy: Callable[..., Any]) -> None:
        # (`typing.get_type_hints` of Python 3.10 hides the normaliser of a parameter whose default is None.)
        hints = inspect.get_annotations(implementation, eval_str=True)
        self.name = implementation.__name__
        #: Gives results their memory order, for functions whose results are not always in C order.
        self.rule: Rule | None = None
        self.rows: list[tuple[str, Callable[[Any], Any] | None, Any]] = []
        self.variadic: Callable[[Any], Any] | None = None
        self.keyword_only = 0
        parameters = self.takes = _parameters_of(numpy)
        for parameter in inspect.signature(implementation).parameters.values():
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.name not in parameters:
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
        # Parameters that NumPy takes by position only are no keywords here either.
        self.names = {name for name, _, _ in self.rows} - positional_only(numpy, implementation)
        self.order = [name for name, _, _ in self.rows]
        #: How many arguments come before `out`, which NumPy also takes by position.
        positional = [] if self.variadic else self.order[: len(self.order) - self.keyword_only]
        self.before_out = positional.index("out") if "out" in positional else sys.maxsize

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Return the normalised arguments by position and by keyword.

        Raises:
            TypeError: the arguments do not fit NumPy's signature.
            StagingError: NumPy takes keywords that the implementation lacks.
        """
        unknown = kwargs.keys() - self.names
        if unknown and isinstance(self.takes, _AllNames):  # NumPy passes them on, or says why not
            raise NoGraphFormError(f"{min(unknown)}= of {self.name}")
        if unknown:
            raise TypeError(f"{self.name}() got an unexpected keyword argument {min(unknown)!r}")
        if self.variadic is not None:
            by_name = {name: (normaliser, default) for name, normaliser, default in self.rows}
            extra = {name: self._normalise_item(value, by_name[name][0]) for name, value in kwargs.items()}
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
            values.append(
                value if value is default and k >= len(args) else self._normalise_item(value, normaliser)
            )
        keywords = {
            row[0]: value for row, value in zip(self.rows[positional:], values[positional:], strict=True)
        }
        return values[:positional], keywords

    def make_arrays(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments by position, with an array for each sequence of numbers that NumPy takes as an
        array.
        """
        if not any(map(is_number_sequence, args)) or self.name in _WRITERS:
            return args
        conversions = [self.variadic] * len(args) if self.variadic else [row[1] for row in self.rows]
        return tuple(
            operand_of(arg) if k < len(conversions) and conversions[k] in OF_ARRAYS else arg
            for k, arg in enumerate(args)
        )

    @staticmethod
    def _normalise_item(value: Any, normaliser: Callable[[Any], Any] | None) -> Any:
        return value if normaliser is None else normaliser(value)


# -- the decorator -------------------------------------------------------------------------------------------


def call_numpy(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call NumPy's own function; a result that it writes to `out` is written to the given array."""
    name = _name_of(function)
    if not kwargs:
        result = call_with_protocol(function, args, {}, may_leave=True)
        refuse_host_result(name, args, result)
        return keep_kind(result, args, kwargs)
    host_kwargs = {name: to_numpy(value, may_leave=True) for name, value in kwargs.items()}
    out = kwargs.get("out")
    if isinstance(out, np.ndarray) and not is_array(out):
        refuse_to_lose_gradient(args)
    result = call_with_protocol(function, args, host_kwargs, may_leave=True)
    refuse_host_result(name, args, result)
    if out is None or out is Ellipsis or any(map(_answers_itself, out if isinstance(out, tuple) else (out,))):
        return keep_kind(result, args, kwargs)
    if type(out) is not tuple or type(result) is tuple:
        return _output_of(out, host_kwargs["out"], result)
    return _output_of(out[0], host_kwargs["out"][0], result)


def _output_of(out: Any, copy: Any, result: Any) -> Any:
    """Return the result of a call that wrote to `copy` in place of `out`: `out`, or an operand's result."""
    if type(out) is tuple:
        return tuple(map(_output_of, out, copy, result))
    if out is None:
        return move_to_tensorflow(result)
    output = write_back(out, copy)
    return output if type(result) is np.ndarray or isinstance(result, np.generic) else result


def _answers_itself(out: Any) -> bool:
    """Return whether an output belongs to another class, which itself decides the result."""
    return out is not None and not isinstance(out, (np.ndarray, tf.Tensor, tf.Variable))


def write_back(target: Any, new_value: Any) -> Any:
    """Store in an array, tensor or variable, or a list or tuple of these, what NumPy wrote into `new_value`
    in its place, and return the object to continue with.
    """
    if type(target) in (tuple, list):
        return type(target)(map(write_back, target, new_value))
    if is_array(target):
        target.store(tf.constant(new_value))
        return target
    if isinstance(target, tf.Variable):
        target.assign(new_value)
        return target
    return tf.constant(new_value) if isinstance(target, tf.Tensor) else target


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
        function = _place_results(implementation, plan) if "device" in plan.names else implementation
        direct = FUNCTIONS.get(numpy)
        plan.rule = ORDERS.get(numpy)
        creates = f"{numpy.__module__}.{numpy.__name__}".removeprefix("numpy.") in CREATES

        @functools.wraps(implementation)
        def call(*args: Any, **kwargs: Any) -> Any:
            if direct is not None and not kwargs and fast_flags.is_unstaged:
                result = _call_kernel(direct, args)
                if result is not None:
                    return result
            if (new_arrays_on_host() or not creates) and runs_on_host(args, kwargs):
                return call_numpy(numpy, args, kwargs)
            return _call_implementation(function, plan, numpy, args, kwargs)

        call.numpy = numpy  # type: ignore[attr-defined]
        OPS[numpy] = call
        if method:
            attach(method if isinstance(method, str) else implementation.__name__, call)
        return call

    return decorate


def _place_results(implementation: Callable[..., Any], plan: _Plan) -> Callable[..., Any]:
    """Wrap an implementation so that eager code makes its array on the device that the call names."""
    position = plan.order.index("device")

    def call(*values: Any, **keywords: Any) -> Any:
        device = values[position] if position < len(values) else keywords.get("device")
        with tf.device(device) if device is not None and tf.executing_eagerly() else nullcontext():
            return implementation(*values, **keywords)

    return call


def _call_kernel(direct: Direct, args: tuple[Any, ...]) -> Any:
    """Return the result of a call that one kernel computes; None leaves the call to the general path."""
    try:
        result = direct(args)
    except LEFT_TO_NUMPY:
        return None
    counts.eager += result is not None
    return result


def _call_implementation(
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
    keywords = {name: value for name, value in kwargs.items() if name != "out"} if out is not None else kwargs
    if out is not None:
        check_memory(numpy, out)
    staging = not tf.executing_eagerly()
    args = plan.make_arrays(args) if staging else args
    if staging and staging_for_xla():
        again = functools.partial(_call_implementation, implementation, plan, numpy)
        selection_result = apply_to_selections(plan.name, lambda *a, **k: again(a, k), args, kwargs)
        if selection_result is not None:
            return selection_result
    try:
        if out is not None:
            keywords = take_dtype_of_output(numpy, out, args, keywords)
        if keywords.get("like") is not None and not is_array(keywords["like"]):
            raise ArrayClassError("like= what NumPy is to ask")
        values, extra = plan.bind(args, keywords)
        values = flatten_unknown_rank(plan.name, plan.order, values) if staging else values
        result = wrap_tensor(implementation(*values, **extra))
        if out is not None:
            check_fit(numpy, out, result)
            casting = casting_into(numpy, out, values[0], result, kwargs.get("casting", "same_kind"))
            result = store_into(out, result, casting)
        elif plan.rule is not None:
            result = plan.rule(result, args, keywords)
    except LEFT_TO_NUMPY as error:
        if staging:
            again = functools.partial(_call_implementation, implementation, plan, numpy)
            return retry_for_each_rank(
                lambda *a, **k: again(a, k), args, kwargs, refusal(error, plan.name, args)
            )
        if not repeatable(error, args):
            raise
    else:
        counts.eager += not staging
        return result
    return leave_to_numpy(numpy, args, kwargs)


#: Errors of an operation on tensors: for a case that it leaves out, or for a wrong argument. In eager code
#: NumPy then gives the result, or raises its own error in its own words.
LEFT_TO_NUMPY = (StagingError, tf.errors.OpError, TypeError, ValueError, IndexError, OverflowError)


def repeatable(error: Exception, args: tuple[Any, ...]) -> bool:
    """Return whether a call may be repeated after `error`: functions among its arguments must run once."""
    if isinstance(error, PromotionError):
        return False
    if isinstance(error, (StagingError, tf.errors.OpError)):
        return True
    return not any(callable(arg) and not isinstance(arg, type) for arg in args)


def _name_of(function: Any) -> str:
    """Return the name of a function of NumPy, or of a ufunc of NumPy or another library, for an error."""
    ufunc = function if isinstance(function, np.ufunc) else getattr(function, "__self__", None)
    method = getattr(function, "__name__", str(function))
    if not isinstance(ufunc, np.ufunc):
        module = (getattr(function, "__module__", None) or "numpy").partition("._")[0]
        return f"numpy.{method}" if getattr(np, method, None) is function else f"{module}.{method}"
    name = ufunc.__name__ if method in ("__call__", ufunc.__name__) else f"{ufunc.__name__}.{method}"
    return f"numpy.{name}" if getattr(np, ufunc.__name__, None) is ufunc else name


def leave_to_numpy(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call NumPy's function and return its result; a call that succeeds is counted as work on the host."""
    result = call_numpy(function, args, kwargs)
    counts.host += 1
    return result


def attach(name: str, function: Callable[..., Any]) -> None:
    """Make ``x.name(*args)`` call `function(x, *args)`."""

    def method(self: ndarray, /, *args: Any, **kwargs: Any) -> Any:
        try:
            return function(self, *args, **kwargs)
        except DOUBTFUL as error:
            return retry_for_each_rank(function, (self, *args), kwargs, error)

    # `inspect.signature` and `help` show the signature and the text of NumPy's method.
    method.__wrapped__ = getattr(np.ndarray, name, function)  # type: ignore[attr-defined]
    method.__name__ = name
    method.__doc__ = method.__wrapped__.__doc__  # type: ignore[attr-defined]
    setattr(ndarray, name, method)
