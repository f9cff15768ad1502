"""`np2tf.use_backend`: the same translated program on plain NumPy, for comparison and debugging."""

from __future__ import annotations

from types import TracebackType

from np2tf.config import config

BACKENDS = ("numpy", "tensorflow")
_NUMPYS = {"eager": "auto", "floats": "float64", "jit": "off", "promotion": "numpy"}
#: The values of the settings before the backend became "numpy".
_before_numpy: dict[str, str] = {}


class use_backend:
    """Run translated code on plain NumPy, or on TensorFlow again, permanently or within a with block.

    ``np2tf.use_backend("numpy")`` switches at once; ``with np2tf.use_backend("numpy"):`` switches back at the
    end of the block. On "numpy" new arrays are np.ndarray, every operation of `np2tf.tnp` on them is NumPy's
    own, and `np2tf.jit`, `np2tf.cond` and the loops are plain Python, so that a debugger steps through them.
    Arrays that were made on TensorFlow before stay there. Like every setting of `np2tf.config`, the backend
    belongs to the process, not to a thread.

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
