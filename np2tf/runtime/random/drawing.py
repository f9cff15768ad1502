"""One draw of a staged function: before the graph runs, in the graph, or by a call back to the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.effects.text import CapturedValues
from np2tf.runtime.random import native
from np2tf.runtime.random.arguments import Form, form_of_staged, is_known
from np2tf.runtime.random.selecting import SELECTION_METHODS
from np2tf.staging import RandomUseError
from np2tf.tnp._chapters.followed_draws import draw_followed
from np2tf.tnp._operands.differentiated_values import any_recorded
from np2tf.tnp._tensor.storage import current_scope, staging_for_xla

if TYPE_CHECKING:
    from np2tf.runtime.random.streams import Draws, Stream


def draw(draws: Draws, stream: Stream, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of NumPy's method of this name, drawn at every call.

    Raises:
        StagingError: if a graph cannot hold the result.
    """
    if kwargs.pop("out", None) is not None:
        raise RandomUseError(f"`{name}` draws into an array of its own")
    method = SELECTION_METHODS.get(name)
    if method is not None:
        result = method(
            lambda generator, *arguments, **keywords: draw(draws, stream, generator, arguments, keywords),
            stream,
            args,
            kwargs,
        )
        if result is not NotImplemented:
            return result
    if any_recorded((args, kwargs)):
        result = draw_followed(name, lambda *standard: draw(draws, stream, name, standard, {}), args, kwargs)
        if result is NotImplemented:
            raise RandomUseError(f"the derivative of what `{name}` draws is not known")
        return result

    def numpys(generator: Any) -> Any:
        return getattr(generator, name)(*args, **kwargs)

    is_weighted = (
        name == "choice" and not is_known(kwargs.get("p")) and is_known((args, {**kwargs, "p": None}))
    )
    if is_weighted:
        evenly = {**kwargs, "p": None}
        form = Form.of(stream.sample(lambda generator: generator.choice(*args, **evenly)))
    elif is_known((args, kwargs)):
        sample = stream.sample(numpys)
        form = Form.of(sample)
        ahead = draws.draw_ahead(stream, name, numpys, sample)
        if ahead is not None:
            return form.wrap(ahead)
    else:
        form = form_of_staged(name, args, kwargs)
    if staging_for_xla():
        values = native.draw(stream, name, args, kwargs, form)
        if values is not None:
            return form.wrap(values)
    return form.wrap(_draw_on_host(stream, name, args, kwargs, form))


def _draw_on_host(
    stream: Stream, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], form: Form
) -> tf.Tensor:
    """Draw by NumPy itself, on the host, from the state that the graph passes."""
    scope = current_scope()
    assert scope is not None
    if scope.trace.xla:
        raise RandomUseError(f"it draws by `{name}`, which only a graph can")
    captures = CapturedValues((args, kwargs), depth=2)
    state = stream.numpys_state()
    names, dtype = list(state), form.dtype

    def run(*inputs: np.ndarray) -> list[np.ndarray]:
        parts = dict(zip(names, inputs, strict=False))
        arguments, keywords = captures.of(inputs[len(names) :])
        after, result = stream.draw(parts, lambda generator: getattr(generator, name)(*arguments, **keywords))
        return [*(after[name] for name in names), np.asarray(result, dtype)]

    types = [*(tensor.dtype for tensor in state.values()), tf.as_dtype(dtype)]
    *after, values = tf.numpy_function(run, [*state.values(), *captures.tensors], types)
    stream.store(
        {name: tf.ensure_shape(part, state[name].shape) for name, part in zip(names, after, strict=True)}
    )
    return tf.ensure_shape(values, form.shape)
