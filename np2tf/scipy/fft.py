"""What scipy.fft has for arrays on TensorFlow: see rules/scipy/fft.toml."""

from __future__ import annotations

from np2tf.scipy.front import provider as _provider

__getattr__, __dir__ = _provider("fft")
