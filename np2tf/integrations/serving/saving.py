"""np2tf.save and np2tf.stablehlo: NumPy functions as saved models, and as text of XLA's input."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.front.residency import ACCELERATORS, device_kind
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.core.errors import ExportError
from np2tf.integrations.serving.inputs import InputError, signature_of, signature_text
from np2tf.loading.functions.staged_versions import jitted_of
from np2tf.staging.compile.open_trace import example, stage_open
from np2tf.staging.compile.preparation import PreparedCall
from np2tf.staging.xla.placement import ops_of

__all__ = [
    "OpenGraph",
    "StableHLO",
    "compute_patterns",
    "save",
    "stablehlo",
]


# -- patterned constants -------------------------------------------------------------------------------------
# Large constants of a program in StableHLO that follow a pattern: the program computes them instead.
#
# TensorFlow computes an index array, an identity matrix or a triangle when it traces, and writes all
# elements into the program: megabytes, which XLA would make to the same pattern again when it compiles.

#: Arrays of so many elements.
LARGE = 1024
_CONSTANT = re.compile(
    r'^( *)(%[\w#]+) = stablehlo\.constant dense<"0x([0-9A-F]+)"> : '
    r"tensor<([\dx]+)x(i1|i32|i64|f32|f64)>(.*)$",
    re.MULTILINE,
)
#: Identity matrices and diagonals, triangles, and their complements.
_DIRECTIONS = {"EQ": np.equal, "GE": np.greater_equal, "LT": np.less, "NE": np.not_equal}
_DTYPES = {"i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}


def compute_patterns(text: str) -> str:
    """Return a program in which large arithmetic sequences, diagonals and triangles are computed."""
    return _CONSTANT.sub(_replaced, text)


def _replaced(match: re.Match[str]) -> str:
    indent, name, digits, lengths, dtype, location = match.groups()
    shape = [int(length) for length in lengths.split("x")]
    array = _array(bytes.fromhex(digits), shape, dtype)
    lines = None if array is None or array.size < LARGE else _computed(name, array, lengths, dtype)
    return match[0] if lines is None else "\n".join(f"{indent}{line}{location}" for line in lines)


def _array(data: bytes, shape: list[int], dtype: str) -> np.ndarray | None:
    """Return the elements of a constant; None if the text does not have them all."""
    size = int(np.prod(shape))
    if dtype == "i1":  # TensorFlow prints eight elements as a byte
        bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
        return bits[:size].reshape(shape).astype(bool) if len(data) == -(-size // 8) else None
    array = np.frombuffer(data, _DTYPES[dtype])
    return array.reshape(shape) if array.size == size else None


def _computed(name: str, array: np.ndarray, lengths: str, dtype: str) -> list[str] | None:
    """Return the lines that compute an array; None if it has no pattern."""
    if array.dtype.kind == "f" and np.signbit(array[array == 0]).any():
        return None
    if array.ndim == 1 and dtype != "i1" and np.isfinite(array[:2]).all():
        first, step = int(array[0]), int(array[1]) - int(array[0])
        # Integers are exact in every one of these dtypes, up to a size.
        if abs(first) + abs(step) * array.size < 2**24 and np.array_equal(
            array, first + step * np.arange(array.size)
        ):
            return [*_sequence(name, first, step, f"tensor<{lengths}x{dtype}>")]
    if array.ndim == 2 and np.isin(array, (0, 1)).all():
        truth = array.astype(bool)
        # The first place of another value in the first row, or else in the first column, gives the diagonal.
        in_row, in_column = truth[0] != truth[0, 0], truth[:, 0] != truth[0, 0]
        k = int(in_row.argmax()) if in_row.any() else -int(in_column.argmax())
        rows, columns = np.arange(array.shape[0])[:, None], np.arange(array.shape[1])
        for direction, compare in _DIRECTIONS.items():
            for offset in (k - 1, k, k + 1):
                if np.array_equal(truth, compare(rows + offset, columns)):
                    return [*_comparison(name, direction, offset, lengths, dtype)]
    return None


def _sequence(name: str, first: int, step: int, kind: str) -> Iterator[str]:
    point = "" if "xi" in kind else ".0"
    yield f"{name}_places = stablehlo.iota dim = 0 : {kind}"
    yield f"{name}_step = stablehlo.constant dense<{step}{point}> : {kind}"
    yield f"{name}_first = stablehlo.constant dense<{first}{point}> : {kind}"
    yield f"{name}_steps = stablehlo.multiply {name}_places, {name}_step : {kind}"
    yield f"{name} = stablehlo.add {name}_steps, {name}_first : {kind}"


def _comparison(name: str, direction: str, offset: int, lengths: str, dtype: str) -> Iterator[str]:
    kind, result = f"tensor<{lengths}xi64>", f"tensor<{lengths}x{dtype}>"
    equal = name if dtype == "i1" else f"{name}_equal"
    yield f"{name}_rows = stablehlo.iota dim = 0 : {kind}"
    yield f"{name}_columns = stablehlo.iota dim = 1 : {kind}"
    yield f"{name}_offset = stablehlo.constant dense<{offset}> : {kind}"
    yield f"{name}_diagonal = stablehlo.add {name}_rows, {name}_offset : {kind}"
    yield (
        f"{equal} = stablehlo.compare {direction}, {name}_diagonal, {name}_columns : ({kind}, {kind}) -> "
        f"tensor<{lengths}xi1>"
    )
    if dtype != "i1":
        yield f"{name} = stablehlo.convert {equal} : (tensor<{lengths}xi1>) -> {result}"


# -- graphs --------------------------------------------------------------------------------------------------
# Functions traced for saving: the graph of a NumPy function, which stands alone.

#: Operations that call a function of Python, and thus run in the process alone that has made the graph.
_CALLBACKS = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
#: Arrays of so many bytes are saved as variables: a graph as text holds two gigabytes at most.
_LARGE = 1 << 20


class OpenGraph:
    """A NumPy function as graphs over arrays of unknown lengths: one graph for each signature.

    Attributes:
        tf_function: the `tf.function` that has the graphs.
        variables: the large arrays that the function reads by name.

    Args:
        function: a jitted, translated or plain NumPy function.
        device: the kind of device for which XLA compiles the graphs; None for graphs of TensorFlow's kernels.
    """

    def __init__(self, function: Callable[..., Any], device: str | None = None) -> None:
        self._jitted_function, self._bound_arguments = jitted_of(function)
        self._device = device
        self.variables: list[tf.Variable] = []
        self._variables_by_id: dict[int, tuple[Any, tf.Variable]] = {}
        self._call: tuple[PreparedCall, Callable[..., Any]] | None = None
        self._concrete_functions: dict[Any, Any] = {}
        self.tf_function = tf.function(self._stage, autograph=False, jit_compile=device is not None or None)

    def _stage(self, *tensors: tf.Tensor) -> Any:
        assert self._call is not None
        # Arguments that are bound to the function are read by name, as far as the graph is concerned.
        call, function = self._call
        handles = self._jitted_function._compiler.handles_exceptions
        return stage_open(
            call, function, tensors, len(self._bound_arguments), self._constant, handles, self._device
        )

    def add(self, specs: Sequence[tf.TensorSpec]) -> Any:
        """Trace the function for a signature, and return its concrete function.

        Raises:
            StagingError: if the function cannot be staged, or needs this process when the graph runs.
        """
        args = (*self._bound_arguments, *map(example, specs))

        def trace(call: PreparedCall, function: Callable[..., Any]) -> Any:
            self._call = call, function
            return self.tf_function.get_concrete_function(*specs)

        concrete_function = self._jitted_function._compiler.trace_apart(args, trace)
        callbacks = sorted(_CALLBACKS & ops_of(concrete_function.graph))
        if callbacks:
            raise ExportError(f"the graph calls Python functions ({', '.join(callbacks)})")
        self._concrete_functions[_kinds(specs)] = concrete_function
        return concrete_function

    def callable(self) -> Any:
        """Return a `tf.function` that calls the graphs; TensorFlow traces it again when it is saved."""
        function = tf.function(
            lambda *tensors: self._concrete_functions[_kinds(tensors)](*tensors), autograph=False
        )
        for concrete in self._concrete_functions.values():
            function.get_concrete_function(*concrete.structured_input_signature[0])
        return function

    def _constant(self, array: Any) -> tf.Tensor:
        """Return the tensor of an array that the function reads by name."""
        if array.nbytes < _LARGE:
            return tf.constant(as_tensor(array).numpy() if not isinstance(array, np.ndarray) else array)
        entry = self._variables_by_id.get(id(array))
        if entry is None:
            with tf.init_scope():
                entry = self._variables_by_id[id(array)] = (
                    array,
                    tf.Variable(as_tensor(array), trainable=False),
                )
            self.variables.append(entry[1])
        return entry[1].read_value()


def _kinds(tensors: Sequence[Any]) -> tuple[Any, ...]:
    return tuple((tensor.dtype, tuple(tensor.shape)) for tensor in tensors)


# -- saving --------------------------------------------------------------------------------------------------
# `np2tf.save` and `np2tf.stablehlo`: NumPy functions as saved models, and as text of XLA's input.

#: Programs that read portable artifacts of StableHLO read this version for years.
ARTIFACT_VERSION = "1.0.0"


def save(
    function: Callable[..., Any],
    folder: str | os.PathLike[str],
    signatures: Sequence[Any],
    *,
    overwrite: bool = False,
) -> None:
    """Save a NumPy function as a SavedModel, which TensorFlow loads without np2tf.

    ``tf.saved_model.load(folder)`` returns an object that you call like the function, with tensors; it has
    the signatures "serving_default", "signature_1" and so on for serving programs. `np2tf.load` returns a
    function of NumPy arrays. The model contains the arrays and numbers that the function reads by name, with
    their present values. In-place writes to arguments do not reach the caller of the model. If NumPy would
    raise an error because of values (an index out of bounds, a `raise` under a test on data), the model
    raises tf.errors.InvalidArgumentError.

    Args:
        function: a jitted, translated or plain NumPy function of arrays and numbers; np2tf translates it as
            `np2tf.jit` does. Parameters with defaults that have no input keep their defaults.
        folder: the folder to write.
        signatures: the calls that the model accepts. Each is a list with an input for each parameter, as a
            text such as ``"x: f64[?, 3]"`` (`?` for a length that is known only when the model runs), as a
            tf.TensorSpec, or as an array of this shape and dtype. A single text stands for a list of one
            text.
        overwrite: whether to write to a folder that is not empty.

    Raises:
        InputError: if a signature is malformed, or the function has no such parameters.
        StagingError: if the function cannot be compiled, or needs this process when the model runs.
        FileExistsError: if the folder is not empty, unless `overwrite` is set.

    See https://www.tensorflow.org/guide/saved_model.
    """
    if isinstance(signatures, (str, tf.TensorSpec)) or not signatures:
        raise InputError(f"signatures must be a list of lists of inputs, not {signatures!r}")
    if not overwrite and os.path.isdir(folder) and any(Path(folder).iterdir()):
        raise FileExistsError(f"the folder {os.fspath(folder)!r} is not empty; overwrite=True writes to it")
    graph = OpenGraph(function)
    concrete_functions = [graph.add(signature_of(function, signature)) for signature in signatures]
    module = tf.Module()
    module.__call__ = graph.callable()
    module.large_arrays = graph.variables
    names = ["serving_default", *(f"signature_{k}" for k in range(1, len(concrete_functions)))]
    tf.saved_model.save(
        module, os.fspath(folder), signatures=dict(zip(names, map(_flat, concrete_functions), strict=True))
    )


def _flat(concrete: Any) -> Any:
    """Return a function for serving programs, which accept results with names only."""
    (specs, _) = concrete.structured_input_signature

    def serve(*tensors: tf.Tensor) -> Mapping[str, tf.Tensor]:
        result = concrete(*tensors)
        if isinstance(result, dict) and all(isinstance(value, tf.Tensor) for value in result.values()):
            return {str(name): value for name, value in result.items()}
        return {f"output_{k}": value for k, value in enumerate(tf.nest.flatten(result))}

    return tf.function(serve, autograph=False).get_concrete_function(*specs)


class StableHLO(str):
    """The text of a program in StableHLO, the portable form of XLA's input: a module with one function
    `main`.

    The inputs of `main` are the function's arguments, and behind them `arrays`. Its results are the arrays
    and numbers in the function's result, in their order.

    Attributes:
        arrays: the large arrays that the function reads by name.
        results: the shapes and dtypes of the results of `main`, as tf.TensorSpec.
        has_check: whether `main` has a last result, a boolean, that is true if NumPy would have raised an
            error for these arguments; then ignore the other results.
    """

    arrays: list[np.ndarray]
    results: list[tf.TensorSpec]
    has_check: bool

    def artifact(self, version: str = ARTIFACT_VERSION) -> bytes:
        """Return the program as a portable artifact, which readers of this version and of later ones accept.

        The text is for reading: other versions of MLIR print and read some constants in another way.

        Raises:
            ValueError: if TensorFlow does not write this version, or it lacks an operation of the program.

        See https://openxla.org/stablehlo/compatibility.
        """
        from tensorflow.compiler.mlir.stablehlo import stablehlo as dialect

        artifact: bytes = dialect.serialize_portable_artifact_str(str(self), version)
        return artifact


def stablehlo(function: Callable[..., Any], signature: Any, *, device: str | None = None) -> StableHLO:
    """Return a NumPy function as StableHLO text, the portable form of XLA's input.

    Args:
        function: a function as for `np2tf.save`.
        signature: the inputs, as for `np2tf.save`, all lengths known.
        device: the kind of device that the program is for: "cpu", "gpu" or "tpu". This machine need not have
            one. None stands for the kind that TensorFlow uses here.

    Returns:
        The text of an MLIR module with one function `main`; it also has the program as a portable artifact,
        and the large arrays that are further inputs.

    Raises:
        InputError: if a length is not known, or the signature is malformed.
        StagingError: if the function cannot be compiled, or needs this process when the program runs.
        ValueError: if there is no such kind of device.

    See https://openxla.org/stablehlo.
    """
    if device not in (None, "cpu", *ACCELERATORS):
        raise ValueError(f"device must be cpu, {' or '.join(ACCELERATORS)}, not {device!r}")
    specs = signature_of(function, signature)
    if any(not spec.shape.is_fully_defined() for spec in specs):
        raise InputError(f"XLA needs to know all lengths, but `{signature_text(specs)}` leaves some open")
    graph = OpenGraph(function, device or device_kind())
    concrete = graph.add(specs)
    text = graph.tf_function.experimental_get_compiler_ir(*specs)(stage="stablehlo")
    program = StableHLO(compute_patterns(text))
    program.arrays = [variable.numpy() for variable in graph.variables]
    program.results = [tf.TensorSpec(one.shape, one.dtype) for one in concrete.outputs]
    program.has_check = concrete.structured_outputs[1] is not None
    return program
