"""``pytest -p np2tf.imports.pytest_plugin --np2tf PKG``: a package's own tests on the translated package."""

from __future__ import annotations

from typing import Any

import pytest

from np2tf.imports.hook import install, uninstall

_INSTALLED = pytest.StashKey[bool]()


def pytest_addoption(parser: Any) -> None:
    """Add ``--np2tf``."""
    group = parser.getgroup("np2tf")
    group.addoption(
        "--np2tf",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="translate this package to TensorFlow when the tests import it (may be given several times)",
    )


def pytest_load_initial_conftests(early_config: Any) -> None:
    """Install the import hook before a conftest of the package itself imports it untranslated."""
    _install(early_config, early_config.known_args_namespace.np2tf)


def pytest_configure(config: Any) -> None:
    """Install the import hook where this plugin came too late for the hook above (in xdist's workers)."""
    _install(config, config.getoption("--np2tf"))


def _install(config: Any, packages: list[str]) -> None:
    if packages and not config.stash.get(_INSTALLED, False):
        config.stash[_INSTALLED] = True
        install(packages)


def pytest_unconfigure(config: Any) -> None:
    """Remove the import hook."""
    if config.getoption("--np2tf"):
        uninstall()


def pytest_terminal_summary(terminalreporter: Any, config: Any) -> None:
    """Say what ran where."""
    packages = config.getoption("--np2tf")
    if not packages:
        return
    from np2tf.counts import counts

    terminalreporter.section(f"np2tf: {', '.join(packages)} translated")
    terminalreporter.line(
        f"jitted calls: {counts.compiled} compiled, {counts.graph} graph, {counts.host} on host; "
        f"{len(counts.fallbacks)} functions fell back"
    )
    for reason in sorted(set(counts.fallbacks)):
        terminalreporter.line(f"  {reason}")
