"""Process-wide settings of the run time: `np2tf.config`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_CHOICES: dict[str, tuple[str, ...]] = {
    "eager": ("auto", "tensorflow"),
    "jit": ("on", "strict", "off"),
    "tier": ("auto", "compile"),
}


class Config:
    """Settings of the op library and of `np2tf.jit`.

    Attributes:
        eager: "auto" runs an eager operation where its operands live (new arrays live on the host);
            "tensorflow" puts every operation and every new array on TensorFlow.
        jit: "on" compiles what it can and runs the rest unjitted, with one warning; "strict" raises where
            a function cannot be compiled; "off" never compiles. Initially taken from ``NP2TF_JIT``.
        tier: "auto" lets a jitted function run on the host until it has taken enough time to be worth
            compiling; "compile" compiles at the first call.

    Raises:
        ValueError: on assignment of anything else.
    """

    eager: str
    jit: str
    tier: str

    def __init__(self) -> None:
        self.eager = "auto"
        self.jit = os.environ.get("NP2TF_JIT", "on")
        self.tier = os.environ.get("NP2TF_TIER", "auto")

    def __setattr__(self, name: str, value: Any) -> None:
        choices = _CHOICES.get(name)
        if choices is None:
            raise AttributeError(f"np2tf.config has no setting {name!r}; it has {', '.join(_CHOICES)}")
        if value not in choices:
            raise ValueError(f"np2tf.config.{name} must be one of {', '.join(choices)}, not {value!r}")
        super().__setattr__(name, value)

    @contextmanager
    def using(self, **settings: str) -> Iterator[Config]:
        """Change settings for the length of a with block."""
        before = {name: getattr(self, name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(self, name, value)
            yield self
        finally:
            for name, value in before.items():
                setattr(self, name, value)


config = Config()
