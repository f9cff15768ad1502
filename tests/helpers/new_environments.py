"""New environments for commands that install np2tf from a checkout, with this environment's packages.

pip finds all dependencies there, so that nothing is downloaded: it builds np2tf, and installs it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.helpers.doc_pages import ROOT

#: The files and folders that an installation from a checkout reads.
_LISTED = ("pyproject.toml", "README.md", "LICENSE", "np2tf", "rules")


def copied_checkout(folder: Path) -> Path:
    """Return a copy of the checkout, in which builds leave their folders."""
    for name in _LISTED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def new_environment(folder: Path) -> dict[str, str]:
    """Make an environment, and return the variables with which commands run in it."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, capture_output=True)
    python = folder / "bin" / "python"
    find = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([python, "-c", find], capture_output=True, text=True, check=True).stdout.strip()
    (Path(packages) / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    (folder / "bin" / "pip").write_text(f'#!/bin/sh\nexec {python} -m pip "$@"\n')
    (folder / "bin" / "pip").chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "PYTHON"))}
    return kept | {
        "PATH": os.pathsep.join([str(folder / "bin"), os.environ["PATH"]]),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip's way to say that there is none
    }
