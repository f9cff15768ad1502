"""The memory of large arrays that have been freed: the C library keeps some of it for the next arrays.

The GNU C library asks the operating system for the memory of each array of 32 MB and more, and gives it back
at once. So every page is mapped and cleared again for each array, which can cost more than the computation:
on a virtual machine an elementwise expression of two arrays of 50 MB took 110 ms, and 10 ms if the memory was
kept. Smaller arrays lie on the heap, whose end the library gives back when it is free: whether a program with
arrays of 0.3 MB takes 20 or 35 ms depends on how they happen to lie, and so on what was imported before. The
arrays of NumPy, the results of TensorFlow and the temporary arrays of XLA all come from there.

See https://man7.org/linux/man-pages/man3/mallopt.3.html.
"""

from __future__ import annotations

import os
import sys

from np2tf.core.settings import config

#: The parameters of `mallopt`: the free memory from which the library returns it, and the size from which an
#: array gets memory of its own.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
#: The values of these parameters, as parts of the machine's memory, and the greatest number of bytes.
_SHARES, _LIMIT = {_TRIM_THRESHOLD: 1 / 32, _MMAP_THRESHOLD: 1 / 64}, 2**30
#: The values that the library itself chooses for a process with large arrays.
_SMALL_VALUES = {_TRIM_THRESHOLD: 64 * 2**20, _MMAP_THRESHOLD: 32 * 2**20}
#: If the user has set one of these variables, the parameters stay as they are.
_USERS_VARIABLES = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_")


def _set_parameters(setting: str) -> None:
    """Let the C library keep freed memory, or return it, as `np2tf.config.freed_memory` says."""
    import ctypes  # loaded only here, because most processes do without

    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        return
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for parameter, share in _SHARES.items():
        least = _SMALL_VALUES[parameter]
        kept_bytes = max(least, min(int(share * memory), _LIMIT))
        library.mallopt(parameter, kept_bytes if setting == "kept" else least)


def follow_setting() -> None:
    """Let the C library do as the setting says, from now on and after every change of it."""
    has_users = any(name in os.environ for name in _USERS_VARIABLES)
    if sys.platform == "linux" and not has_users and "malloc" not in os.environ.get("GLIBC_TUNABLES", ""):
        config.follow("freed_memory", _set_parameters)


# Whoever loads this module jits functions, as converted files do: arrays of a steady size come and go.
follow_setting()
