"""The version of the installed SciPy, for functions whose results differ between versions."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def _installed_version() -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in version("scipy").split(".")[:2])
    except PackageNotFoundError:
        return (99,)  # without SciPy there are no results to differ from


#: The first two numbers of the version, like ``(1, 17)``.
SCIPY = _installed_version()
