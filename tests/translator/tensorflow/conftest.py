"""One process runs all translations: TensorFlow is imported once."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from np2tf.core.rules import rules_folder

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from tests.translator.tensorflow.programs import every_translation  # noqa: E402


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The differences from NumPy, by program and by example."""
    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):  # The workers of one run share the results.
        folder = folder.parent
    cases, told = folder / "target_tf_cases.json", folder / "target_tf_results.json"
    with (folder / "target_tf.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            cases.write_text(json.dumps(every_translation()))
            command = [sys.executable, "-I", HERE / "isolated.py", cases, told, rules_folder()]
            environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
            done = subprocess.run(
                command, capture_output=True, text=True, env=environment, cwd=folder, check=False
            )
            assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(told.read_text())
