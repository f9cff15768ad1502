"""One process runs all translations: TensorFlow is imported once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from np2tf.rules import rules_folder

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from programs import every_translation  # noqa: E402


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The differences from NumPy, by program and by example."""
    folder = tmp_path_factory.mktemp("target_tf")
    cases, told = folder / "cases.json", folder / "results.json"
    cases.write_text(json.dumps(every_translation()))
    command = [sys.executable, "-I", str(HERE / "isolated.py"), str(cases), str(told), str(rules_folder())]
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}, cwd=folder
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(told.read_text())
