"""``pytest --np2tf PACKAGE``: a package's own tests on the translated package.

Installed with np2tf as the pytest plugin "np2tf". Until ``--np2tf`` is given it does nothing, and imports
neither TensorFlow nor the translator.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

#: The plugin's name in pytest, as in ``-p no:np2tf``.
NAME = "np2tf"
#: Under which a worker of pytest-xdist sends what it counted.
SENT = "np2tf"
#: How many diagnostics the summary shows.
ROWS = 60
_STARTED = pytest.StashKey[bool]()


class Plugin:
    """The hooks; one object, so that it cannot be registered twice."""

    def __init__(self) -> None:
        self._workers: list[dict[str, Any]] = []

    def pytest_addoption(self, parser: pytest.Parser) -> None:
        """Add the options."""
        group = parser.getgroup("np2tf", "NumPy code on TensorFlow (np2tf)")
        group.addoption(
            "--np2tf",
            action="append",
            default=[],
            metavar="PACKAGE",
            help="translate this package to TensorFlow when the tests import it; may be given several times",
        )
        group.addoption(
            "--np2tf-jit",
            choices=("on", "strict", "off"),
            default=None,
            help="compile what can be compiled; fail where a function cannot be; or compile nothing",
        )

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config: pytest.Config) -> Any:
        """Install the import hook before a conftest imports the package untranslated."""
        self._start(early_config, early_config.known_args_namespace)
        return (yield)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Install the import hook where the plugin came too late for the hook above."""
        self._start(config, config.option)

    def _start(self, config: pytest.Config, options: Any) -> None:
        packages = getattr(options, "np2tf", None)
        if not packages or config.stash.get(_STARTED, False):
            return
        config.stash[_STARTED] = True
        from np2tf.config import config as settings
        from np2tf.imports.hook import install

        if options.np2tf_jit is not None:
            settings.jit = options.np2tf_jit
        install(packages)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """In a worker of pytest-xdist: send what was counted to the process that shows it."""
        output = getattr(session.config, "workeroutput", None)
        if output is not None and session.config.stash.get(_STARTED, False):
            output[SENT] = _counted()

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """In the process that shows it: take what a worker counted."""
        sent = getattr(node, "workeroutput", {}).get(SENT)
        if sent is not None:
            self._workers.append(sent)

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        """Say what ran where, and what could not be translated or compiled."""
        if config.stash.get(_STARTED, False):
            terminalreporter.section(f"np2tf: {', '.join(config.option.np2tf)} translated")
            here = str(config.invocation_params.dir) + os.sep
            for line in summary([_counted(), *self._workers]):
                terminalreporter.line(line.replace(f"  {here}", "  "))

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Remove the import hook."""
        self._workers.clear()
        if config.stash.get(_STARTED, False):
            from np2tf.imports.hook import uninstall

            uninstall()


def _counted() -> dict[str, Any]:
    """What this process ran and met, as plain data."""
    from np2tf.counts import counts
    from np2tf.imports.met import diagnostics_met

    met = [(found.code, found.path, found.line, found.message) for found in diagnostics_met()]
    return {**counts.to_data(), "met": met}


def summary(processes: list[dict[str, Any]]) -> list[str]:
    """The lines of the summary over all processes."""
    from np2tf.counts import Counts

    total = Counts()
    met: Counter[tuple[Any, ...]] = Counter()
    for sent in processes:
        total.add(sent)
        # Every process imports the modules: a finding in a file is one finding, however many have met it.
        met |= Counter(map(tuple, sent["met"]))
    rows = [
        (one.path, one.line, one.code, f"{one} (ran as Python)", one.calls) for one in total.fallbacks
    ] + [(path, line, code, message, number) for (code, path, line, message), number in met.items()]
    return [
        f"jitted calls: {total.compiled} compiled, {total.graph} graph, {total.host_calls} on host "
        f"({total.unjitted} of them could not be compiled); {total.traces} traces",
        f"operations outside of them on tensors: {total.eager} on TensorFlow, "
        f"{total.host - total.host_calls} handed to NumPy",
        *(["diagnostics:"] if rows else []),
        *(
            f"  {path}:{line}: {code} {text} ×{number}"
            for path, line, code, text, number in sorted(rows)[:ROWS]
        ),
        *([f"  … and {len(rows) - ROWS} more"] if len(rows) > ROWS else []),
    ]


plugin = Plugin()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """``-p np2tf.imports.pytest_plugin``: the plugin where np2tf is not installed, as in a bare checkout.

    Where it is installed it is registered under its own name already, or will not be a second time.
    """
    if not pluginmanager.has_plugin(NAME) and not pluginmanager.is_blocked(NAME):
        pluginmanager.register(plugin, NAME)
