"""``pytest --np2tf PACKAGE``: a package's own tests on the translated package.

Installed with np2tf as the pytest plugin "np2tf". Until ``--np2tf`` is given it does nothing, and imports
neither TensorFlow nor the translator.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from np2tf.imports.pytest_finder import PackageFinder

#: The plugin's name in pytest, as in ``-p no:np2tf``.
NAME = "np2tf"
#: Under which a worker of pytest-xdist sends what it counted.
SENT = "np2tf"
#: How many diagnostics the summary shows.
ROWS = 60
#: What a run can end with that has imported what it wanted to import.
_ENDED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
_STARTED: pytest.StashKey[PackageFinder] = pytest.StashKey()
_EARLY: pytest.StashKey[list[str]] = pytest.StashKey()


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
        if not packages or _STARTED in config.stash:
            return
        from np2tf.config import config as settings
        from np2tf.imports.cache.store import prepare
        from np2tf.imports.pytest_finder import PackageFinder, folders_of

        if options.np2tf_jit is not None:
            settings.jit = options.np2tf_jit
        here = config.invocation_params.dir
        places = (here, config.rootpath, here / "src", config.rootpath / "src")
        folders = folders_of(packages, places, getattr(options, "file_or_dir", None) or ())
        finder = PackageFinder(packages, folders, config.getini("python_files"))
        config.stash[_EARLY] = [name for name in packages if name in sys.modules]
        config.stash[_STARTED] = finder
        prepare(finder.options)
        sys.meta_path.insert(0, finder)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """In a worker of pytest-xdist: send what was counted to the process that shows it.

        In that process: a run in which nothing of a package was translated is no success.
        """
        config = session.config
        output = getattr(config, "workeroutput", None)
        if _STARTED not in config.stash:
            return
        if output is not None:
            output[SENT] = _count_data(config)
        elif session.exitstatus == pytest.ExitCode.OK and self._untranslated_packages(config):
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """In the process that shows it: take what a worker counted."""
        sent = getattr(node, "workeroutput", {}).get(SENT)
        if sent is not None:
            self._workers.append(sent)

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
        """Say what ran where, and what could not be translated or compiled."""
        if _STARTED not in config.stash:
            return
        processes = [_count_data(config), *self._workers]
        missed = self._untranslated_packages(config)
        done = [name for name in config.option.np2tf if name not in missed]
        terminalreporter.section(f"np2tf: {', '.join(done) or 'nothing'} translated")
        here = str(config.invocation_params.dir) + os.sep
        for line in (modules_line(processes), *summary(processes)):
            terminalreporter.line(line.replace(f"  {here}", "  "))
        if exitstatus in (*_ENDED, pytest.ExitCode.USAGE_ERROR):
            for name, reason in missed.items():
                terminalreporter.line(f"ERROR: nothing of {name} was translated: {reason}", red=True)

    def counted(self, config: pytest.Config) -> list[dict[str, Any]] | None:
        """What each process ran and met, as plain data; None where nothing was to be translated."""
        return [_count_data(config), *self._workers] if _STARTED in config.stash else None

    def _untranslated_packages(self, config: pytest.Config) -> dict[str, str]:
        """The packages of which nothing was translated in any process, with the reason and the remedy."""
        if config.option.collectonly:
            return {}
        modules = _modules([_count_data(config), *self._workers])
        early = config.stash[_EARLY]
        return {
            name: _reason(name, modules.get(name, {}), name in early)
            for name in dict.fromkeys(config.option.np2tf)
            if not any(modules.get(name, {}).values())
        }

    def pytest_unconfigure(self, config: pytest.Config) -> None:
        """Remove the import hook."""
        self._workers.clear()
        finder = config.stash.get(_STARTED, None)
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


def _count_data(config: pytest.Config) -> dict[str, Any]:
    """What this process ran and met, as plain data."""
    from np2tf.counts import counts
    from np2tf.imports.hooks.run_diagnostics import diagnostics_met

    met = [(found.code, found.path, found.line, found.message) for found in diagnostics_met()]
    loaded = "tensorflow" in sys.modules
    return {
        **counts.to_data(),
        "met": met,
        "modules": config.stash[_STARTED].modules(),
        "tensorflow": loaded,
    }


def _modules(processes: list[dict[str, Any]]) -> dict[str, dict[str, bool]]:
    """Of each package, the modules that any process imported, and whether one of them has it translated."""
    found: dict[str, dict[str, bool]] = {}
    for sent in processes:
        for package, modules in sent["modules"].items():
            known = found.setdefault(package, {})
            known.update({name: known.get(name, False) or done for name, done in modules.items()})
    return found


def modules_line(processes: list[dict[str, Any]]) -> str:
    """How many modules of each package were translated, of those that were imported."""
    each = (
        f"{package} {sum(modules.values())} of {len(modules)}"
        for package, modules in _modules(processes).items()
    )
    return f"modules translated: {', '.join(each)}"


def _reason(package: str, modules: dict[str, bool], early: bool) -> str:
    """Why nothing of a package was translated, and what to do."""
    if early:
        return (
            "it was imported before np2tf could translate it, by a plugin or at the start of Python; "
            "leave the plugin out with `-p no:NAME`"
        )
    if modules:
        return (
            f"of its {len(modules)} imported modules none uses NumPy or could be translated; "
            "name a package that uses NumPy"
        )
    return "the tests imported no module of it; give the name that it is imported by, or the folder it is in"


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
        f"TensorFlow: {'imported' if any(sent['tensorflow'] for sent in processes) else 'not needed'}",
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
