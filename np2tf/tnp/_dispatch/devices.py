"""`device_put`, which makes an array again from a pickle of an older version."""

from __future__ import annotations

from np2tf.arrays.dispatch.placement import device_put as device_put
