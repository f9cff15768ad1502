"""Packages that only some commands need, and that `pip install np2tf` alone does not install."""

from __future__ import annotations

import importlib.util

import click

from np2tf.core.diagnostics import codes


def need(extra: str, *packages: str) -> None:
    """Raise click.UsageError, which says what to install, if one of an extra's packages is missing."""
    missing = [package for package in packages if not is_installed(package)]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise click.UsageError(f"{' and '.join(missing)} {verb} not installed: pip install 'np2tf[{extra}]'")


def is_installed(package: str) -> bool:
    """Return whether a package can be imported, without importing it."""
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # a finder refuses it, or something else has its name
        return False


def runs_programs() -> bool:
    """Return whether programs can be run: the translator alone needs neither NumPy nor TensorFlow."""
    return is_installed("numpy") and is_installed("tensorflow")


def cannot_run() -> click.UsageError:
    """Return the error for where they are needed and missing."""
    entry = codes()["NP2TF925"]
    return click.UsageError(f"{entry.code} {entry.message}. {entry.remedy}")
