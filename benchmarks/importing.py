"""Measures the import of a translated package, compared with the import of the package as it is.

    python benchmarks/importing.py transforms3d --path SRC/transforms3d-0.4.2

Every figure is the time of one `import` in a fresh process that has already loaded NumPy, TensorFlow and
np2tf's run time, and for translations has called `np2tf.install`. The import is measured untranslated with
Python's bytecode files present, then translated for the first time (into an empty cache), then translated
from the cache. The garbage collector runs just before: otherwise a collection may or may not fall into the
half millisecond of an import, where it costs as much as all of np2tf. The quotient is that of the fastest
imports of both kinds, and in brackets that of the medians. The last column is the time that np2tf itself
takes to load.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from typing import Any

_CHILD = """
import gc, importlib, json, sys, time, warnings
name, how, path, modules = sys.argv[1:]
sys.path[:0] = [path] if path else []
warnings.simplefilter("ignore")
import numpy, tensorflow
runtime = time.perf_counter()
import np2tf
from np2tf import tnp
np2tf.jit, np2tf.cond
runtime = time.perf_counter() - runtime
setting_up = time.perf_counter()
if how == "translated":
    np2tf.install([name])
setting_up = time.perf_counter() - setting_up
for before in modules.split():
    importlib.import_module(before)
had = set(sys.modules)
gc.collect()
start = time.perf_counter()
importlib.import_module(name)
for module in MODULES:
    importlib.import_module(module)
seconds = time.perf_counter() - start
new = [m for m in set(sys.modules) - had if m.split(".")[0] == name]
translator = "libcst" in sys.modules
print(json.dumps({"seconds": seconds, "modules": len(new), "translator": translator,
                  "runtime": runtime + setting_up}))
"""


_SUBMODULES = """
import importlib, pkgutil, sys
name, path = sys.argv[1:]
sys.path[:0] = [path] if path else []
package = importlib.import_module(name)
for module in pkgutil.walk_packages(getattr(package, "__path__", []), name + ".", onerror=lambda name: None):
    try:
        "test" in module.name or (importlib.import_module(module.name), print(module.name))
    except ImportError:
        pass  # needs a package that is not installed
"""


def submodules(name: str, path: str) -> list[str]:
    """Return every module of a package except its tests, so that a lazy `__init__` hides nothing."""
    command = [sys.executable, "-W", "ignore", "-c", _SUBMODULES, name, path]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def once(name: str, how: str, path: str, modules: list[str], before: str, cache: str) -> dict[str, Any]:
    """Time one import in a new process. Python keeps its bytecode in the cache's folder, too."""
    environment = {
        **os.environ,
        "NP2TF_CACHE_DIR": cache,
        "NP2TF_CACHE": "on",
        "PYTHONPYCACHEPREFIX": f"{cache}-bytecode",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    # With this variable set, the plain import would compile its sources each time.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    program = _CHILD.replace("MODULES", repr(modules))
    command = [sys.executable, "-c", program, name, how, path, before]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Print one line for each package."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", nargs="+", metavar="PACKAGE", help="names of packages or modules")
    parser.add_argument("--path", default="", help="the folder they are in, if they are not installed")
    parser.add_argument("--repeat", type=int, default=5, help="processes for each figure (default 5)")
    parser.add_argument("--before", default="", help="modules to load first, such as scipy.linalg")
    given = parser.parse_args()
    print("package           modules  plain ms  first ms  second ms  second/plain (medians)  runtime ms")
    for name in given.packages:
        modules = submodules(name, given.path)
        with tempfile.TemporaryDirectory() as folder:
            fixed = (given.path, modules, given.before, os.path.join(folder, "cache"))
            once(name, "plain", *fixed)
            first = once(name, "translated", *fixed)
            # The kinds take turns, so that other work on the machine slows both of them down.
            pairs = [
                (once(name, "plain", *fixed), once(name, "translated", *fixed)) for _ in range(given.repeat)
            ]
        if any(translated["translator"] for _, translated in pairs):
            raise SystemExit(f"{name}: a translation from the cache has loaded the translator")
        plains = [before["seconds"] for before, _ in pairs]
        seconds = [after["seconds"] for _, after in pairs]
        plain, second = min(plains), min(seconds)
        medians = statistics.median(seconds) / statistics.median(plains)
        runtime = statistics.median(after["runtime"] for _, after in pairs)
        print(
            f"{name:16}  {first['modules']:7}  {plain * 1e3:8.1f}  {first['seconds'] * 1e3:8.0f}"
            f"  {second * 1e3:9.1f}  {second / plain:12.2f} ({medians:7.2f})  {runtime * 1e3:10.0f}"
        )


if __name__ == "__main__":
    main()
