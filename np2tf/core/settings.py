"""The settings of a process, `np2tf.config`, and `np2tf.use_backend`, which sets several at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

# -- config --------------------------------------------------------------------------------------------------
# Process-wide settings of the run time: `np2tf.config`.

#: setting -> its values, the initial value first.
_CHOICES: dict[str, tuple[str, ...]] = {
    "eager": ("auto", "tensorflow"),
    "jit": ("on", "strict", "off"),
    "tier": ("auto", "compile"),
    "floats": ("float64", "float32"),
    "bounds": ("checked", "unchecked"),
    "promotion": ("numpy", "all", "safe", "none"),
    "freed_memory": ("kept", "returned"),
}
#: setting -> the functions to call when it changes.
_FOLLOWERS: dict[str, list[Callable[[str], None]]] = {}


def _variable(setting: str) -> str:
    """Return the name of the environment variable with the initial value of a setting."""
    return f"NP2TF_{setting.upper()}"


def check(setting: str, value: Any, label: str) -> None:
    """Raise ValueError if a setting cannot have this value; the message calls the setting `label`."""
    choices = _CHOICES[setting]
    if value not in choices:
        raise ValueError(f"{label} must be one of {', '.join(choices)}, not {value!r}")


class Program:
    """The state of the program that uses np2tf.

    Attributes:
        is_translated: whether a module of the program was translated when it was imported or run.
        starts_as_source: whether modules run their own source, in which what is hot is translated.
        is_verbose: whether the user wants to read what cannot be compiled.
        loaders: the classes of loaders whose modules belong to the program, wherever their files are.
    """

    is_translated = starts_as_source = is_verbose = False
    loaders: tuple[type, ...] = ()


program = Program()


class Config:
    """Settings of the op library and of `np2tf.jit`, for the whole process.

    Attributes:
        eager: "auto" runs an eager operation where its operands live. A NumPy array is np.ndarray, and so
            is a new array, unless TensorFlow must see it: in a graph, while a gradient tape records, or in
            a device scope that names an accelerator. "tensorflow" puts every operation and every new array on
            TensorFlow. The initial value comes from ``NP2TF_EAGER``.
        jit: "on" compiles what can be compiled and runs other functions unjitted, with one warning each;
            "strict" raises where a function cannot be compiled; "off" never compiles. The initial value comes
            from ``NP2TF_JIT``.
        tier: "auto" runs a jitted function on NumPy until compiling it pays off;
            "compile" compiles at the first call, and loops at once. The initial value comes from
            ``NP2TF_TIER``.
        floats: the dtype of new floating-point arrays for which neither an operand nor the caller gives a
            dtype: "float64" as in NumPy, or "float32", which puts new arrays on TensorFlow. Set it before the
            first call of a jitted function. The initial value comes from ``NP2TF_FLOATS``.
        bounds: "checked" makes compiled code raise IndexError where NumPy raises it. "unchecked" omits the
            checks of indices that are known only at run time: an index out of bounds then reads or writes
            another element. The initial value comes from ``NP2TF_BOUNDS``.
        promotion: the rule that gives operands of different dtypes a common dtype, for arrays on TensorFlow
            and in compiled code. "numpy": NumPy's rules. "all": JAX's lattice. "safe": JAX's lattice, with a
            TypeError if a value could change or if no operand has the result's dtype. "none": a TypeError for
            different dtypes. The initial value comes from ``NP2TF_PROMOTION``.
        freed_memory: "kept" lets the GNU C library keep the memory of freed arrays for the next arrays, up to
            1/32 of the machine's memory, as soon as something is compiled or put on TensorFlow: new pages can
            cost more than a computation. "returned" gives the memory of large arrays back to the operating
            system at once. The environment variables of the C library's `malloc` have precedence. The initial
            value comes from ``NP2TF_FREED_MEMORY``.

    Raises:
        ValueError: if a setting gets a value that is not listed above, from the program or from its
            environment variable.
        AttributeError: if there is no such setting.
    """

    eager: str
    jit: str
    tier: str
    floats: str
    bounds: str
    promotion: str
    freed_memory: str

    def __init__(self) -> None:
        for name, choices in _CHOICES.items():
            value = os.environ.get(_variable(name), choices[0])
            if value in choices:  # else the first use of the setting reports it
                setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name in _CHOICES:
            check(name, os.environ.get(_variable(name)), f"the environment variable {_variable(name)}")
        raise AttributeError(f"np2tf.config has no setting {name!r}; it has {', '.join(_CHOICES)}")

    def check_environment(self) -> None:
        """Raise ValueError if the environment gives a setting a value that it cannot have."""
        for name in _CHOICES:
            getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _CHOICES:
            raise AttributeError(f"np2tf.config has no setting {name!r}; it has {', '.join(_CHOICES)}")
        check(name, value, f"np2tf.config.{name}")
        super().__setattr__(name, value)
        for follower in _FOLLOWERS.get(name, ()):
            follower(value)

    def follow(self, name: str, follower: Callable[[str], None]) -> None:
        """Call `follower` with the setting's value now and after every change."""
        _FOLLOWERS.setdefault(name, []).append(follower)
        follower(getattr(self, name))

    @contextmanager
    def using(self, **settings: str) -> Iterator[Config]:
        """Change settings for the duration of a with block."""
        before = {name: getattr(self, name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(self, name, value)
            yield self
        finally:
            for name, value in before.items():
                setattr(self, name, value)


config = Config()


# -- backend -------------------------------------------------------------------------------------------------
# `np2tf.use_backend`: the same translated program on plain NumPy, for comparison and debugging.

BACKENDS = ("numpy", "tensorflow")
_NUMPYS = {"eager": "auto", "floats": "float64", "jit": "off", "promotion": "numpy"}
#: The values of the settings before the backend became "numpy".
_before_numpy: dict[str, str] = {}


class use_backend:
    """Run translated code on plain NumPy, or on TensorFlow again, permanently or within a with block.

    ``np2tf.use_backend("numpy")`` switches at once; ``with np2tf.use_backend("numpy"):`` switches back at the
    end of the block. On "numpy" new arrays are np.ndarray, every operation of `np2tf.tnp` on them is NumPy's
    own, and `np2tf.jit`, `np2tf.cond` and the loops are plain Python, so that a debugger steps through them.
    Arrays that were made on TensorFlow before stay there. Like every setting of `np2tf.config`, the
    backend belongs to the process, not to a thread.

    Args:
        name: "numpy" or "tensorflow".

    Raises:
        ValueError: if there is no such backend.
    """

    def __init__(self, name: str) -> None:
        if name not in BACKENDS:
            raise ValueError(f"np2tf.use_backend takes {' or '.join(map(repr, BACKENDS))}, not {name!r}")
        self._before = {setting: getattr(config, setting) for setting in _NUMPYS}
        self._before_numpy = dict(_before_numpy)
        if name == "numpy" and not _before_numpy:
            _before_numpy.update(self._before)
            self._set(_NUMPYS)
        elif name == "tensorflow" and _before_numpy:
            self._set(_before_numpy)
            _before_numpy.clear()

    @staticmethod
    def _set(settings: dict[str, str]) -> None:
        for setting, value in settings.items():
            setattr(config, setting, value)

    def __enter__(self) -> use_backend:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._set(self._before)
        _before_numpy.clear()
        _before_numpy.update(self._before_numpy)
