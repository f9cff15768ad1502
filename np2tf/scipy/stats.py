"""The functions of scipy.stats that run on tensors: rules/scipy/stats.toml lists them."""

from __future__ import annotations

from np2tf.scipy.front import provider as _provider

__getattr__, __dir__ = _provider("stats")
