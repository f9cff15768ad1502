"""The common form of the items of a staged list: how an item is taken apart, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.structures.carried_values import Carried, describe_form, flatten, form_of, is_widened, join
from np2tf.staging import ListGrowthError
from np2tf.tnp._array.ndarray import is_array, scalar, tensor_array, tensor_scalar
from np2tf.tnp._array.sequences import StackableSequence
from np2tf.tnp._operands.path_dependent import path_dependence_error
from np2tf.tnp._operands.promotion import result_type_of
from np2tf.tnp._tensor.storage import current_scope


@dataclass(frozen=True)
class ItemSpec:
    """The form of every item: the forms of its leaves, and their structure.

    Attributes:
        inner: the form of the items' items, if an item is a staged list itself. The leaves are then its rows.
    """

    forms: tuple[Carried, ...]
    outline: Any
    rebuild: Callable[[Sequence[Any]], Any]
    inner: ItemSpec | None = None

    @classmethod
    def of(cls, item: Any) -> ItemSpec:
        """Return the form of one item.

        Raises:
            StagingError: if the item holds a value that a graph cannot hold.
        """
        if isinstance(item, StackableSequence):
            inner: ItemSpec = item.element  # type: ignore[attr-defined]
            forms = tuple(Carried(form.dtype, (item.known_length(), *form.shape)) for form in inner.forms)
            return cls(forms, ("rows", inner.outline), type(item).of_rows(inner), inner)  # type: ignore[attr-defined]
        leaves, rebuild, outline = flatten(item)
        return cls(tuple(map(_form, leaves)), outline, rebuild)

    def leaves(self, item: Any) -> list[Any]:
        """Return the arrays and numbers of one item."""
        if isinstance(item, StackableSequence):
            return item.rows()  # type: ignore[attr-defined, no-any-return]
        return flatten(item)[0]

    def tensors(self, item: Any) -> list[tf.Tensor]:
        """Return one item as the tensors that are stored."""
        return [form.tensor(leaf) for form, leaf in zip(self.forms, self.leaves(item), strict=True)]

    def item(self, tensors: Sequence[tf.Tensor]) -> Any:
        """Return the item for stored tensors."""
        return self.rebuild([form.value(tensor) for form, tensor in zip(self.forms, tensors, strict=True)])

    def join(self, other_spec: ItemSpec) -> ItemSpec:
        """Return the common form of items of this form and of the other form.

        Raises:
            StagingError: if no form keeps the array that NumPy makes of such a list.
        """
        if self.same_as(other_spec):
            return self
        if self.outline != other_spec.outline:
            kinds = f"{_describe_outline(self.outline)} and {_describe_outline(other_spec.outline)}"
            raise ListGrowthError(f"the items of a list that grows in staged code differ in kind: {kinds}")
        inner = (
            self.inner.join(other_spec.inner)
            if self.inner is not None and other_spec.inner is not None
            else None
        )
        forms = tuple(map(_join_forms, self.forms, other_spec.forms))
        return replace(self, forms=forms, inner=inner)

    def same_as(self, other_spec: ItemSpec) -> bool:
        """Return whether both forms describe the same items."""
        return self.outline == other_spec.outline and self.forms == other_spec.forms

    def on_host(self, parts: Sequence[Any]) -> Any:
        """Return one item from its parts, which are numbers, np.ndarrays or tensors."""
        if self.inner is not None:
            return [self.inner.on_host(part) for part in zip(*parts, strict=True)]
        return self.rebuild([_on_host(form, part) for form, part in zip(self.forms, parts, strict=True)])


def _form(leaf: Any) -> Carried:
    form = form_of(leaf)
    if form is None or form.optional is not None or None in form.shape:
        kind = "an array whose shape depends on data" if form is not None else type(leaf).__name__
        raise ListGrowthError(f"a list that grows in staged code holds {kind}")
    return _as_item_form(form)


def _as_item_form(form: Carried) -> Carried:
    """Return the form of a leaf in a list, where a number that is only sometimes Python's counts as
    NumPy's.
    """
    if form.path_dependent is None:
        return form
    if len(form.path_dependent.dtypes) > 1:
        raise path_dependence_error(form.path_dependent)
    return replace(form, path_dependent=None)


def _describe_outline(outline: Any) -> str:
    """Return the structure of an item in words, from the outline of `flatten`."""
    if outline == "leaf":
        return "an array or number"
    if outline[0] == "rows":
        return "a list that grows"
    kind, keys, parts = outline
    if kind is dict:
        return f"a dict with the keys {', '.join(map(repr, keys))}"
    return f"a {kind.__name__} of {len(parts)}"


def _join_forms(a: Carried, b: Carried) -> Carried:
    """Return a common form, if np.array makes the same array from a list of both as from a list of that
    form.
    """
    form = _as_item_form(join(a, b, "an item of a list"))
    two_forms = f"{describe_form(a)} and {describe_form(b)}"
    if form.shape != a.shape or None in form.shape or a.number is not b.number:
        raise ListGrowthError(f"the items of a list that grows in staged code differ in shape: {two_forms}")
    of_truth = (a.dtype == np.bool_) is not (b.dtype == np.bool_)
    otherwise_joined = form.dtype != result_type_of((a.dtype, b.dtype))
    if of_truth or otherwise_joined or is_widened(a, form) or is_widened(b, form):
        raise ListGrowthError(f"the items of a list that grows in staged code differ in type: {two_forms}")
    scope = current_scope()
    if scope is not None:
        for element_form in (a, b):
            scope.trace.shown_text.join(element_form, form)
    return form


def _on_host(form: Carried, part: Any) -> Any:
    if form.weak is not None:
        return form.weak(part)
    if isinstance(part, tf.Tensor):
        return tensor_scalar(part) if form.number else tensor_array(part)
    return part if form.number else np.array(part)


def arrays_in(leaves: Sequence[Any]) -> list[Any]:
    """Return the leaves that may share memory with other arrays: arrays, not numbers."""
    return [leaf for leaf in leaves if is_array(leaf) and type(leaf) is not scalar]
