"""The functions of scipy.signal that run on tensors: rules/scipy/signal.toml lists them."""

from __future__ import annotations

from np2tf.arrays.front.scipy_functions import provider as _provider

__getattr__, __dir__ = _provider("signal")
