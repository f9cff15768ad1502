"""np2tf joins the facts about functions of imported modules, and keeps them in the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MODULES = {
    "__init__.py": "",
    "checks.py": """import numpy as np

from . import asking


def ask(x):
    if np.isnan(x).any():
        raise ValueError(x.shape)
    return asking.confirm("go on? ")
""",
    "asking.py": """def confirm(question):
    return input(question)
""",
    "work.py": """import numpy as np

from .checks import ask


def smooth(x):
    for k in range(10):
        x[1:-1] = (x[2:] + x[:-2]) / 2
    return x


def careful(x):
    ask(x)
    for k in range(10):
        x[1:-1] = (x[2:] + x[:-2]) / 2
    return x


def outer(x):
    return np.sum(careful(x)) + np.mean(np.abs(x)) * np.max(x)
""",
}
SCRIPT = """
import json, sys
import np2tf
with np2tf.translating("pk"):
    import pk.work
loaded = "np2tf.translator.pipeline" in sys.modules
from np2tf.loading.import_hook import diagnostics_met
found = [[one.code, one.line, one.message] for one in diagnostics_met() if one.code == "NP2TF402"]
print(json.dumps([loaded, found]))
"""


def run(folder: Path) -> Any:
    environment = {
        **os.environ,
        "NP2TF_CACHE": "on",
        "NP2TF_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(told.stdout)


def test_functions_of_imported_modules_are_joined(tmp_path: Path) -> None:
    (tmp_path / "pk").mkdir()
    for name, text in MODULES.items():
        (tmp_path / "pk" / name).write_text(text)
    loaded, found = run(tmp_path)
    assert loaded
    assert [line for _, line, _ in found] == [12, 19]
    assert "`ask`" in found[0][2]
    assert "asking.py:1" in found[0][2]
    assert "`careful`" in found[1][2]
    loaded, again = run(tmp_path)
    assert not loaded
    assert again == found
