"""One call of a jitted function, prepared: its signature, and the function as it is traced for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from np2tf.runtime.signature import Signature
from np2tf.runtime.twins import Twins, is_plain
from np2tf.tnp.cells import current_region


class Call:
    """One call, prepared."""

    def __init__(self, signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.signature = signature
        self.args = args
        self.kwargs = kwargs
        self.is_plain = True

    def body(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as it is traced: of staged arrays and numbers."""

        def run(arrays: Any, numbers: Any) -> Any:
            twins = Twins(self.signature, arrays, numbers)
            args, kwargs = twins.of((self.args, self.kwargs))
            entered = current_region()
            assert entered is not None
            entered.trace.instances = twins.instances
            entered.trace.attributes_are_named = self.signature.attributes_are_named
            outcome = twins.outcome(function(*args, **kwargs))
            self.is_plain = is_plain(outcome)
            return outcome.result if self.is_plain else outcome

        return run
