"""``pytest --np2tf PACKAGE``: runs a package's own tests on the translated package.

np2tf installs this module as the pytest plugin "np2tf". Without ``--np2tf`` it does nothing, and imports
neither TensorFlow nor the translator.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from np2tf.integrations.pytest_finder import PackageFinder


#: The plugin's name in pytest, as in ``-p no:np2tf``.
NAME = "np2tf"
#: The key under which a worker of pytest-xdist sends its counts.
COUNTS_KEY = "np2tf"
#: The number of diagnostics that the summary shows.
ROWS = 60
#: The exit codes of runs that have imported the modules of their tests.
_COMPLETE_RUNS = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
_FINDER_KEY: pytest.StashKey[PackageFinder] = pytest.StashKey()
_EARLY: pytest.StashKey[list[str]] = pytest.StashKey()


class Plugin:
    """The hooks of the plugin. There is one object, so that it cannot be registered twice."""

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
        """Install the import hook if the plugin was loaded too late for the hook above."""
        self._start(config, config.option)

    def _start(self, config: pytest.Config, options: Any) -> None:
        packages = getattr(options, "np2tf", None)
        if not packages or _FINDER_KEY in config.stash:
            return
        _keep_asserts(config)
        from np2tf.core.settings import config as settings
        from np2tf.integrations.pytest_finder import PackageFinder, folders_of
        from np2tf.loading.translations import prepare

        if options.np2tf_jit is not None:
            settings.jit = options.np2tf_jit
        here = config.invocation_params.dir
        places = (here, config.rootpath, here / "src", config.rootpath / "src")
        folders = folders_of(packages, places, getattr(options, "file_or_dir", None) or ())
        finder = PackageFinder(packages, folders, config.getini("python_files"))
        config.stash[_EARLY] = [name for name in packages if name in sys.modules]
        config.stash[_FINDER_KEY] = finder
        prepare(finder.options)
        sys.meta_path.insert(0, finder)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Send a worker's counts, or let a run without any translation fail.

        A worker of pytest-xdist sends its counts to the process that shows them. In that process, a run fails
        if nothing of a package was translated.
        """
        config = session.config
        output = getattr(config, "workeroutput", None)
        if _FINDER_KEY not in config.stash:
            return
        if output is not None:
            output[COUNTS_KEY] = _count_data(config)
        elif session.exitstatus == pytest.ExitCode.OK and self._untranslated_packages(config):
            session.exitstatus = pytest.ExitCode.USAGE_ERROR

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Receive a worker's counts in the process that shows them."""
        counts = getattr(node, "workeroutput", {}).get(COUNTS_KEY)
        if counts is not None:
            self._workers.append(counts)

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
        """Report the tier of calls and operations, and the parts that could not be translated or compiled."""
        if _FINDER_KEY not in config.stash:
            return
        processes = [_count_data(config), *self._workers]
        failures = self._untranslated_packages(config)
        packages = [name for name in config.option.np2tf if name not in failures]
        terminalreporter.section(f"np2tf: {', '.join(packages) or 'nothing'} translated")
        here = str(config.invocation_params.dir) + os.sep
        for line in (modules_line(processes), *summary(processes)):
            terminalreporter.line(line.replace(f"  {here}", "  "))
        if exitstatus in (*_COMPLETE_RUNS, pytest.ExitCode.USAGE_ERROR):
            for name, reason in failures.items():
                terminalreporter.line(f"ERROR: nothing of {name} was translated: {reason}", red=True)

    def collect_counts(self, config: pytest.Config) -> list[dict[str, Any]] | None:
        """Return the counts of each process as plain data; None if nothing was to be translated."""
        return [_count_data(config), *self._workers] if _FINDER_KEY in config.stash else None

    def _untranslated_packages(self, config: pytest.Config) -> dict[str, str]:
        """Return the packages of which no process translated a module, with the reason and the remedy."""
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
        finder = config.stash.get(_FINDER_KEY, None)
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)


def _count_data(config: pytest.Config) -> dict[str, Any]:
    """Return the counts and findings of this process, as plain data."""
    from np2tf.core.counts import counts
    from np2tf.loading.import_hook import diagnostics_met

    findings = [
        (diagnostic.code, diagnostic.path, diagnostic.line, diagnostic.message)
        for diagnostic in diagnostics_met()
    ]
    loaded = "tensorflow" in sys.modules
    return {
        **counts.to_data(),
        "met": findings,
        "modules": config.stash[_FINDER_KEY].modules(),
        "tensorflow": loaded,
    }


def _modules(processes: list[dict[str, Any]]) -> dict[str, dict[str, bool]]:
    """Return, for each package, the modules that any process imported, and whether any process translated
    them.
    """
    packages: dict[str, dict[str, bool]] = {}
    for data in processes:
        for package, modules in data["modules"].items():
            package_modules = packages.setdefault(package, {})
            package_modules.update(
                {
                    name: package_modules.get(name, False) or is_translated
                    for name, is_translated in modules.items()
                }
            )
    return packages


def modules_line(processes: list[dict[str, Any]]) -> str:
    """Return a line with the numbers of translated and of imported modules of each package."""
    counts_of_states = (
        f"{package} {sum(modules.values())} of {len(modules)}"
        for package, modules in _modules(processes).items()
    )
    return f"modules translated: {', '.join(counts_of_states)}"


def _reason(package: str, modules: dict[str, bool], early: bool) -> str:
    """Return why nothing of a package was translated, and the remedy."""
    if early:
        return (
            "it was imported before np2tf could translate it, by a plugin or when Python started; "
            "leave the plugin out with `-p no:NAME`"
        )
    if modules:
        return (
            f"none of its {len(modules)} imported modules uses NumPy or could be translated; "
            "name a package that uses NumPy"
        )
    return "the tests imported none of its modules; give the name it is imported by, or its folder"


def summary(processes: list[dict[str, Any]]) -> list[str]:
    """Return the lines of the summary over all processes."""
    from np2tf.core.counts import Counts

    total = Counts()
    findings: Counter[tuple[Any, ...]] = Counter()
    for data in processes:
        total.add(data)
        # Every process imports the modules: a finding in a file counts once, however many processes report
        # it.
        findings |= Counter(map(tuple, data["met"]))
    rows = [
        (fallback.path, fallback.line, fallback.code, f"{fallback} (ran as Python)", fallback.calls)
        for fallback in total.fallbacks
    ] + [(path, line, code, message, number) for (code, path, line, message), number in findings.items()]
    return [
        f"jitted calls: {total.compiled} compiled, {total.graph} graph, {total.host_calls} on NumPy "
        f"({total.unjitted} of them could not be compiled); {total.traces} traces",
        f"operations on tensors outside of them: {total.eager} on TensorFlow, "
        f"{total.host - total.host_calls} passed to NumPy",
        f"TensorFlow: {'imported' if any(data['tensorflow'] for data in processes) else 'not needed'}",
        *(["diagnostics:"] if rows else []),
        *(
            f"  {path}:{line}: {code} {text} ×{number}"
            for path, line, code, text, number in sorted(rows)[:ROWS]
        ),
        *([f"  … and {len(rows) - ROWS} more"] if len(rows) > ROWS else []),
    ]


def _keep_asserts(config: pytest.Config) -> None:
    """Let pytest import np2tf's modules as they are.

    In packages with a plugin pytest rewrites every `assert`, which takes seconds for hundreds of modules, and
    in each run if Python writes no bytecode. If pytest changes this part, the modules are rewritten again.
    """
    hook = getattr(config.pluginmanager, "rewrite_hook", None)
    getattr(hook, "_must_rewrite", set()).discard("np2tf")
    getattr(hook, "_marked_for_rewrite_cache", {}).clear()


plugin = Plugin()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the plugin for ``-p np2tf.imports.pytest_plugin`` in a bare checkout, where np2tf is not
    installed.

    If np2tf is installed, pytest knows the plugin under its own name, and does not register it a second time.
    """
    if not pluginmanager.has_plugin(NAME) and not pluginmanager.is_blocked(NAME):
        pluginmanager.register(plugin, NAME)
