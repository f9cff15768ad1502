"""The common form of a call's results that are staged for several ranks of an operand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._array.ndarray import is_array, scalar, storage_of, weak_scalar, wrap_tensor


@dataclass(frozen=True)
class LeafForm:
    """The form of one leaf of a result: a tensor, as an array or a number, or a value that is no tensor."""

    dtype: tf.DType | None
    shape: tf.TensorShape | None = None
    weak: type | None = None
    value: Any = None
    #: True if the leaf is a view of the operand.
    view: bool = False

    #: True if the leaf is a raw tensor, and not an array on TensorFlow.
    raw: bool = False

    @property
    def kind(self) -> tuple[tf.DType | None, type | None, bool]:
        """The dtype of the tensor if the leaf can be a tensor, the Python type of a number, and `raw`."""
        if self.dtype is not None:
            return self.dtype, self.weak, self.raw
        return _NUMBERS.get(type(self.value)), type(self.value), False

    def common_form(self, other_form: LeafForm) -> LeafForm:
        """Return the common form of two leaves.

        Raises:
            NoCommonForm: the leaves have no common form.
        """
        if self.dtype is None and other_form.dtype is None and _have_one_form(self.value, other_form.value):
            return self
        dtype, weak, raw = self.kind
        if (dtype, weak, raw) != other_form.kind:
            if not {self.kind, other_form.kind} <= {(tf.bool, bool, False), (tf.bool, None, False)}:
                raise NoCommonForm
            weak = None
        if dtype is None:
            raise NoCommonForm
        # (`or` would not do: a shape of unknown rank is false.)
        own_shape, other_shape = (
            _NUMBER if leaf.shape is None else leaf.shape for leaf in (self, other_form)
        )
        shape = own_shape.most_specific_compatible_shape(other_shape)
        return LeafForm(dtype, shape, weak, view=self.view and other_form.view, raw=raw)

    def of(self, tensor: tf.Tensor) -> Any:
        """Return a tensor in the form of this leaf."""
        tensor.set_shape(self.shape)
        return tensor if self.raw else weak_scalar(tensor, self.weak) if self.weak else wrap_tensor(tensor)


_NUMBER = tf.TensorShape([])
#: Types of Python numbers that may have different values for different ranks.
_NUMBERS = {bool: tf.bool, int: tf.int64, float: tf.float64}
_VALUES = (bool, int, float, complex, str, bytes, type, np.dtype)


def _have_one_form(first: Any, second: Any) -> bool:
    return first is second or (type(first) is type(second) and isinstance(first, _VALUES) and first == second)


class NoCommonForm(Exception):
    """The results of two ranks have no common form."""


def leaf_form(value: Any, operand: Any) -> LeafForm:
    if is_array(value):
        weak = value.weak if type(value) is scalar else None
        view = is_array(operand) and type(value) is not scalar and storage_of(value) is storage_of(operand)
        return LeafForm(value.tensor.dtype, value.tensor.shape, weak, view=view)
    if isinstance(value, (tf.Tensor, np.ndarray)):
        tensor = tf.convert_to_tensor(value)
        return LeafForm(tensor.dtype, tensor.shape, raw=isinstance(value, tf.Tensor))
    return LeafForm(None, value=value)


def leaf_tensor(value: Any) -> tf.Tensor:
    return value.tensor if is_array(value) else tf.convert_to_tensor(value, _NUMBERS.get(type(value)))
