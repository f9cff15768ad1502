"""``pytest -p np2tf.imports.pytest_plugin --np2tf PKG``: run a package's own tests on the translated package."""

from __future__ import annotations

from typing import Any

from np2tf.imports.hook import install, uninstall


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


def pytest_configure(config: Any) -> None:
    """Install the import hook before any test module is collected."""
    packages = config.getoption("--np2tf")
    if packages:
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
