"""Every command and every block of Python that README and docs show is run as it stands, page by page.

A block with a title is a file. The other blocks are run in order, in one folder for each page. A comment
before a block that is not run says why.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.helpers.doc_blocks import RUN, Block, blocks_of
from tests.helpers.doc_pages import DOCS, ROOT
from tests.helpers.new_environments import copied_checkout, new_environment
from tests.helpers.warm_python import warm_python

PAGES = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted(DOCS.glob("*.md"))]
#: Pages with something to run.
STORIES = [
    page
    for page in PAGES
    if any(block.language in RUN and not (block.not_run or block.elsewhere) for block in blocks_of(page))
]
#: The files that the commands of reference pages are about.
GIVEN = {
    "src/model.py": "import numpy as np\n\n\ndef f(x):\n    return np.sin(x)\n",
    "your_script.py": "import numpy as np\n\nprint(np.sin(np.ones(3)))\n",
    "script.py": "import numpy as np\n\nprint(np.sin(np.ones(3)))\n",
    "package/__main__.py": "import numpy as np\n\nprint(np.sin(np.ones(3)))\n",
    "mypkg/__init__.py": "import numpy as np\n\n\ndef solve(x):\n    return np.sin(x)\n",
    "mypkg/model.py": "import numpy as np\n\n\ndef f(x):\n    return np.sin(x)\n",
    "tests/test_mypkg.py": (
        "import numpy as np\n\nfrom mypkg import solve\n\n\n"
        "def test_solve():\n    assert solve(np.zeros(3)).sum() == 0\n"
    ),
    "simulate.py": "import sys\n\nimport numpy as np\n\nprint(np.sin(np.ones(3)).sum(), sys.argv[1:])\n",
    "simulation/__init__.py": "",
    "simulation/__main__.py": "import numpy as np\n\nnp.savetxt('out.txt', np.sin(np.ones(3)))\n",
}
#: Pages that make their own files.
OWN = (
    "quickstart.md",
    "existing-repository.md",
    "tutorial-convert.md",
    "tutorial-import.md",
    "tutorial-jit.md",
)


def name_of(page: Path) -> str:
    """A page as tests are called by it."""
    return page.relative_to(ROOT).as_posix()


@pytest.mark.slow
@pytest.mark.parametrize("page", STORIES, ids=name_of)
def test_blocks(page: Path, tmp_path: Path) -> None:
    """The page does what it shows."""
    environment = prepared(tmp_path / "bin")
    folder = tmp_path / "here"
    for name, text in given(page):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    folder.mkdir(exist_ok=True)
    for block in blocks_of(page):
        if block.language in RUN and not (block.not_run or block.elsewhere or block.is_installation):
            status, told = run(block, folder, environment)
            assert status == block.status, f"line {block.line}:\n{block.text}\n{told[-4000:]}"


INSTALLATIONS = [(page, block) for page in PAGES for block in blocks_of(page) if block.is_installation]


@pytest.mark.slow
@pytest.mark.parametrize(("page", "block"), INSTALLATIONS, ids=lambda one: getattr(one, "name", None))
def test_installations(page: Path, block: Block, tmp_path: Path) -> None:
    """A page that installs np2tf from a checkout installs it, with its command."""
    environment = new_environment(tmp_path / "environment")
    folder = tmp_path / "checkout"
    folder.mkdir()
    status, told = run_commands(block, copied_checkout(folder), environment)
    assert status == 0, told
    command = tmp_path / "environment" / "bin" / "np2tf"
    done = subprocess.run([command, "--version"], cwd=tmp_path, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert len(INSTALLATIONS) >= 3


def given(page: Path) -> list[tuple[str, str]]:
    """The files that are there before a page begins."""
    return [] if page.name in OWN else list(GIVEN.items())


def run(block: Block, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run one block, or write the file that it is; return its exit status and its output."""
    if block.title:
        file = folder / block.title
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf-8")
        return block.status, ""
    if block.language == "python":
        return run_process(["python", "-c", block.text], folder, environment)
    return run_commands(block, folder, environment)


def run_commands(block: Block, folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a block of commands up to the first that fails; return its exit status and its output."""
    return run_process(["bash", "-e", "-o", "pipefail", "-c", block.text], folder, environment)


def run_process(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Run a command, which its variables find, and return its exit status and its output."""
    done = subprocess.run(
        ["env", *command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout


def prepared(bin_folder: Path) -> dict[str, str]:
    """Variables of an environment in which np2tf is installed, as far as pages can see."""
    bin_folder.mkdir(parents=True)
    command = bin_folder / "np2tf"
    command.write_text(
        f"#!{warm_python()}\nimport sys\n\nfrom np2tf.cli.main import main\n\n"
        "if __name__ == '__main__':\n    sys.exit(main())\n"
    )
    command.chmod(0o755)
    path = os.pathsep.join(
        [
            str(bin_folder),
            str(Path(warm_python()).parent),
            str(Path(sys.executable).parent),
            os.environ["PATH"],
        ]
    )
    options = "-p no:cacheprovider"
    if not any(one.value.startswith("np2tf.") for one in entry_points(group="pytest11")):
        options += " -p np2tf.imports.pytest_plugin"  # an installation announces the plugin
    folders = f"{ROOT}{os.pathsep}."  # `pytest` imports a package of the current folder
    return os.environ | {"PATH": path, "PYTHONPATH": folders, "PYTEST_ADDOPTS": options}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_markers(page: Path) -> None:
    """If a block names the test that runs it, the test exists. A title is a path below the page's folder."""
    for block in blocks_of(page):
        if block.elsewhere:
            assert (ROOT / block.elsewhere).is_file(), block
        if block.title:
            assert not Path(block.title).is_absolute()
            assert ".." not in block.title


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_is_in_a_block(page: Path) -> None:
    """No command hides in an indented paragraph, which no test would run."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"^ {4,}(?:pip|python|np2tf|pytest|nox|git|ruff|mypy) .*", text, re.MULTILINE) == []


def test_own_sources_have_the_lines_of_the_page() -> None:
    """docs/op-library.md quotes a declaration of np2tf's own."""
    (block,) = [one for one in blocks_of(DOCS / "op-library.md") if one.elsewhere]
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "np2tf" / "arrays").rglob("*.py")]
    assert any(block.text.replace(" ...\n", "\n") in source for source in sources)


def test_the_test_sees_what_it_should(tmp_path: Path) -> None:
    """Blocks are found with what is said of them, and a wrong one fails."""
    page = tmp_path / "page.md"
    text = (
        '```sh\nfalse\n```\n\n<!-- not run: it needs an accelerator -->\n```python title="a.py"\nx\n```\n'
        "<!-- exits with 3 -->\n\n```sh\nexit 3\n```\n<!-- tests/x.py holds it -->\n```\ny\n```\n"
    )
    page.write_text(text)
    found = blocks_of(page)
    assert [block[:1] + block[3:7] for block in found] == [
        ("sh", "", "", "", 0),
        ("python", "a.py", "it needs an accelerator", "", 0),
        ("sh", "", "", "", 3),
        ("", "", "", "tests/x.py", 0),
    ]
    assert [run_commands(found[at], tmp_path, dict(os.environ))[0] for at in (0, 2)] == [1, 3]
    assert len(STORIES) >= 6
