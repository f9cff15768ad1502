"""The site that the pages make: every link and anchor leads somewhere, and every page has its place."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.doc_pages import DOCS, ROOT

pytest.importorskip("mkdocs", reason="the site is built where the extra [docs] is installed")


def build(folder: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Build the site of a checkout."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(out)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.slow
def test_the_site_is_built_without_a_warning(tmp_path: Path) -> None:
    done = build(ROOT, tmp_path / "site")
    assert done.returncode == 0, done.stderr
    made = {path.stem for path in (tmp_path / "site").glob("*.html")}
    assert {path.stem for path in DOCS.glob("*.md")} <= made
    # No page asks another server for anything.
    for page in (tmp_path / "site").glob("*.html"):
        assert not re.findall(
            r'<(?:script|img|link rel="stylesheet")[^>]+(?:src|href)="https?:', page.read_text()
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["[x](nowhere.md)", "[x](check.md#no-such-heading)", "[x](../nowhere/file.py)"]
)
def test_a_broken_link_is_seen(text: str, tmp_path: Path) -> None:
    for name in ("docs", "tools", "np2tf", "tests", "benchmarks", "rules", "fixtures"):
        if name != "docs":
            (tmp_path / name).symlink_to(ROOT / name)
    shutil.copytree(DOCS, tmp_path / "docs")
    for name in ("mkdocs.yml", "README.md", "CHANGELOG.md", "LICENSE"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    index = tmp_path / "docs" / "index.md"
    index.write_text(index.read_text() + f"\n{text}\n")
    done = build(tmp_path, tmp_path / "site")
    assert done.returncode == 1
    assert "index.md" in done.stderr
