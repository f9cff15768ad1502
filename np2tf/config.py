"""Process-wide settings of the run time: `np2tf.config`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_CHOICES: dict[str, tuple[str, ...]] = {
    "eager": ("auto", "tensorflow"),
    "jit": ("on", "strict", "off"),
    "tier": ("auto", "compile"),
    "floats": ("float64", "float32"),
    "bounds": ("checked", "unchecked"),
    "promotion": ("numpy", "all", "safe", "none"),
}
#: setting -> who is to be told of its changes.
_FOLLOWERS: dict[str, list[Callable[[str], None]]] = {}


def check(setting: str, value: Any, told: str) -> None:
    """See that a setting may have this value; `told` is what the error calls it.

    Raises:
        ValueError: it may not.
    """
    choices = _CHOICES[setting]
    if value not in choices:
        raise ValueError(f"{told} must be one of {', '.join(choices)}, not {value!r}")


class Program:
    """The program that np2tf is used by.

    Attributes:
        is_translated: whether a module of it has been translated as it was imported or run.
    """

    is_translated = False


program = Program()


class Config:
    """Settings of the op library and of `np2tf.jit`.

    Attributes:
        eager: "auto" runs an eager operation where its operands live: an array on the host is np.ndarray,
            and so is a new array, unless TensorFlow is to see it (in a graph, while a gradient tape records,
            in a device scope that names an accelerator). "tensorflow" puts every operation and every new
            array on TensorFlow. Initially taken from ``NP2TF_EAGER``.
        jit: "on" compiles what it can and runs the rest unjitted, with one warning; "strict" raises where
            a function cannot be compiled; "off" never compiles. Initially taken from ``NP2TF_JIT``.
        tier: "auto" lets a jitted function run on the host until it has taken enough time to be worth
            compiling; "compile" compiles at the first call.
        floats: the dtype of new floating-point arrays where neither an operand nor the caller says one:
            "float64" as in NumPy, or "float32", under which new arrays are on TensorFlow. Set it before the
            first call of a jitted function.
        bounds: "checked" makes compiled code raise IndexError where NumPy does; "unchecked" leaves the checks
            of indices that are known at run time only out of it: one out of bounds then reads or writes some
            other element. Initially taken from ``NP2TF_BOUNDS``.
        promotion: how operands of several dtypes get a common one, for arrays on TensorFlow and in staged
            code: "numpy" by NumPy's rules; "all" by JAX's lattice; "safe" by the lattice, with a TypeError
            where a value could change or the result is of no operand's dtype; "none" not at all, with a
            TypeError. Initially taken from ``NP2TF_PROMOTION``.

    Raises:
        ValueError: on assignment of anything else.
    """

    eager: str
    jit: str
    tier: str
    floats: str
    bounds: str
    promotion: str

    def __init__(self) -> None:
        self.eager = os.environ.get("NP2TF_EAGER", "auto")
        self.jit = os.environ.get("NP2TF_JIT", "on")
        self.tier = os.environ.get("NP2TF_TIER", "auto")
        self.floats = os.environ.get("NP2TF_FLOATS", "float64")
        self.bounds = os.environ.get("NP2TF_BOUNDS", "checked")
        self.promotion = os.environ.get("NP2TF_PROMOTION", "numpy")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _CHOICES:
            raise AttributeError(f"np2tf.config has no setting {name!r}; it has {', '.join(_CHOICES)}")
        check(name, value, f"np2tf.config.{name}")
        super().__setattr__(name, value)
        for follower in _FOLLOWERS.get(name, ()):
            follower(value)

    def follow(self, name: str, follower: Callable[[str], None]) -> None:
        """Call `follower` with the setting's value at every change, and now."""
        _FOLLOWERS.setdefault(name, []).append(follower)
        follower(getattr(self, name))

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
