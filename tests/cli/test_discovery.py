"""Discovery finds the right files: include, exclude, .gitignore, links, duplicates."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from np2tf.cli.configuration import Configurations
from np2tf.cli.files import Search, python_files


def make(folder: Path, files: dict[str, str] | list[str]) -> Path:
    """A tree of files."""
    for name, text in (files if isinstance(files, dict) else dict.fromkeys(files, "x = 1\n")).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def found(*paths: Path, within: Path | None = None, **search: object) -> list[str]:
    """The names of the files that are found, relative to the first path."""
    base = within or paths[0]
    given = search.pop("given", None)
    searching = Search(Configurations(given), **search)  # type: ignore[arg-type]
    return [str(path.relative_to(base)) for path, _ in python_files(paths, searching)]


def test_by_name_and_folders_last(tmp_path: Path) -> None:
    make(tmp_path, ["z.py", "a.py", "m/b.py", "m/a/c.py", "m/x.txt", "n.pyi", "o.py.orig", "e/f.PY"])
    assert found(tmp_path) == ["a.py", "z.py", "m/b.py", "m/a/c.py"]


def test_what_is_no_source_by_default(tmp_path: Path) -> None:
    """Hidden folders, environments, caches and what builds leave; hidden files are files."""
    skipped = [".git/a.py", ".tox/py/a.py", "a/.venv/a.py", "venv/a.py", "env/a.py", "a/node_modules/b/a.py"]
    skipped += ["__pycache__/a.py", "build/lib/a.py", "dist/a.py", "lib/site-packages/a.py", "_build/a.py"]
    make(tmp_path, [*skipped, ".hidden.py", "builder/a.py", "other/pyvenv.cfg", "other/a.py"])
    assert found(tmp_path) == [".hidden.py", "builder/a.py"]


@pytest.mark.parametrize("start", [".", "elsewhere"])
def test_defaults_do_not_hang_on_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, start: str
) -> None:
    """Patterns without a configuration are about whatever is named."""
    make(tmp_path / "p", ["a.py", "build/b.py", "q/.c/d.py"])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / start)
    assert found(tmp_path / "p") == ["a.py"]


def test_what_is_named_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also below a folder that would be passed over, where patterns go on to count."""
    make(tmp_path, [".x/build/a.py", ".x/build/build/b.py", ".x/build/.git/c.py", ".x/build/d.txt"])
    root = tmp_path / ".x/build"
    assert found(root) == ["a.py"]
    assert found(root / "build/b.py", root / "d.txt", within=root) == ["build/b.py", "d.txt"]
    monkeypatch.chdir(tmp_path)
    assert found(Path(".x/build")) == ["a.py"]


def test_include_and_exclude(tmp_path: Path) -> None:
    """`exclude` replaces the defaults, `extend-exclude` adds; all are relative to the configuration."""
    files = [
        "a.py",
        "a.pyx",
        "SConstruct",
        "build/b.py",
        "tests/t.py",
        "pkg/tests/t.py",
        "gen_a.py",
        "gen_keep.py",
    ]
    make(tmp_path, files)
    config = tmp_path / "np2tf.toml"
    config.write_text("extend-exclude = ['/tests', 'gen_*.py', '!gen_keep.py']\n")
    assert found(tmp_path) == ["a.py", "gen_keep.py", "pkg/tests/t.py"]
    assert found(tmp_path / "pkg", within=tmp_path) == ["pkg/tests/t.py"]
    config.write_text("exclude = ['tests/']\ninclude = ['*.py', 'SConstruct']\n")
    assert found(tmp_path) == ["SConstruct", "a.py", "gen_a.py", "gen_keep.py", "build/b.py"]
    assert "a.py" not in found(tmp_path, given={"extend-exclude": ("a.py",)})
    assert found(tmp_path, given={"include": ("a.*",)}) == ["a.py", "a.pyx"]


def test_nearer_configurations(tmp_path: Path) -> None:
    """The nearest configuration decides on a folder's files, with patterns relative to the configuration's
    folder.
    """
    make(tmp_path, ["a/x.py", "a/y.py", "b/x.py", "b/y.py", "b/c/x.py"])
    make(tmp_path, {"np2tf.toml": "exclude = ['/a/x.py']\n", "b/np2tf.toml": "exclude = ['/y.py', 'c/']\n"})
    assert found(tmp_path) == ["a/y.py", "b/x.py"]


def git(folder: Path, *words: str) -> str:
    """Return the output of a git command."""
    command = ["git", "-c", "core.excludesFile=", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=30).stdout


IGNORED = {
    ".gitignore": "*.gen.py\n/top.py\nout/\n!keep.gen.py\n# c.py\n\\#d.py\ndeep/**/e.py\nt \nq*/[ab].py\n!\n",
    "pkg/.gitignore": "!b.gen.py\nlocal.py\r\n/only/*\n!/only/this.py\n",
    "pkg/sub/.gitignore": "*\n!/here.py\n",
}
FILES = [
    *(
        "a.gen.py",
        "keep.gen.py",
        "top.py",
        "pkg/top.py",
        "out/x.py",
        "pkg/out/x.py",
        "c.py",
        "#d.py",
        "deep/e.py",
    ),
    *("deep/er/e.py", "deep/er/f.py", "pkg/b.gen.py", "pkg/c.gen.py", "pkg/local.py", "pkg/only/that.py"),
    *(
        "pkg/only/this.py",
        "pkg/sub/x.py",
        "pkg/sub/here.py",
        "pkg/sub/in/here.py",
        "qq/a.py",
        "qq/c.py",
        "mine.py",
    ),
]


def test_gitignore_as_git_has_it(tmp_path: Path) -> None:
    """Discovery finds the files of a repository that git itself would add, from its top and from inside."""
    make(make(tmp_path, FILES), IGNORED)
    git(tmp_path, "init", "-q")
    (tmp_path / ".git/info/exclude").write_text("mine.py\n")
    listed = git(tmp_path, "ls-files", "-o", "--exclude-standard", "-z").split("\0")
    wanted = sorted(name for name in listed if name.endswith(".py"))
    assert 8 <= len(wanted) < len(FILES) - 8
    assert sorted(found(tmp_path)) == wanted
    inside = sorted(name for name in wanted if name.startswith("pkg/"))
    assert sorted(found(tmp_path / "pkg", within=tmp_path)) == inside
    assert len(found(tmp_path, gitignore=False)) > len(wanted)


@pytest.mark.parametrize("seed", range(30))
def test_random_gitignores_as_git_has_them(tmp_path: Path, seed: int) -> None:
    """Random patterns at random places of a random tree."""
    draw = random.Random(seed)
    folders = ["", *(f"{a}/" for a in "ab"), *(f"{a}/{b}/" for a in "ab" for b in "abc"), "a/b/c/"]
    make(tmp_path, [f"{folder}{draw.choice('xyz')}{draw.choice('xyz')}.py" for folder in folders * 3])
    pieces = ["a", "b", "c", "*", "**", "x*", "*.py", "?y.py", "[xy]z.py", "xx.py", "yz.py", "z*.py", "zz.p?"]
    for folder in draw.sample(folders, 3):
        lines = []
        for _ in range(draw.randint(1, 4)):
            name = "/".join(draw.choices(pieces, k=draw.choice([1, 1, 1, 2, 3])))
            ends = draw.choice(["", "", "/"]) + name + draw.choice(["", "", "/"])
            lines.append(draw.choice(["", "", "!"]) + ends + "\n")
        (tmp_path / folder / ".gitignore").write_text("".join(lines))
    git(tmp_path, "init", "-q")
    listed = git(tmp_path, "ls-files", "-o", "--exclude-standard", "-z").split("\0")
    assert sorted(found(tmp_path)) == sorted(name for name in listed if name.endswith(".py"))


def test_gitignore_without_a_repository(tmp_path: Path) -> None:
    """The .gitignore of the named folder counts, a .gitignore above it does not; a repository inside a
    repository is its own.
    """
    make(tmp_path, {".gitignore": "a.py\n", "p/a.py": "", "p/b.py": "", "p/.gitignore": "b.py\n"})
    assert found(tmp_path / "p") == ["a.py"]
    git(tmp_path, "init", "-q")
    assert found(tmp_path / "p") == []
    git(tmp_path / "p", "init", "-q")
    assert found(tmp_path / "p") == ["a.py"]


def test_a_named_folder_that_is_ignored(tmp_path: Path) -> None:
    """It is looked into, and what else is ignored is passed over."""
    make(tmp_path, {".gitignore": "out/\n*.gen.py\n", "out/a.py": "", "out/b.gen.py": "", "out/out/c.py": ""})
    git(tmp_path, "init", "-q")
    assert found(tmp_path / "out") == ["a.py"]


def test_force_exclude(tmp_path: Path) -> None:
    """Files that are named are left out like files that are found, also because of a folder above them."""
    make(tmp_path, {".gitignore": "gen/\n", "np2tf.toml": "extend-exclude = ['old/']\n"})
    make(
        tmp_path,
        ["a.py", "old/b.py", "old/deep/c.py", "gen/d.py", "venv/lib/e.py", "x/pyvenv.cfg", "x/lib/f.py"],
    )
    git(tmp_path, "init", "-q")
    named = [tmp_path / name for name in ("a.py", "old/b.py", "old/deep", "gen/d.py", "venv/lib/e.py")]
    named.append(tmp_path / "x/lib/f.py")
    assert len(found(*named, within=tmp_path)) == 6
    assert found(*named, within=tmp_path, force_exclude=True) == ["a.py"]


def test_each_file_once(tmp_path: Path) -> None:
    """Whatever names lead to it; links to folders are not followed, so circles do not matter."""
    make(tmp_path, ["p/a.py", "p/q/b.py", "outside/c.py"])
    (tmp_path / "p/link.py").symlink_to("a.py")
    (tmp_path / "p/out.py").symlink_to("../outside/c.py")
    (tmp_path / "p/broken.py").symlink_to("nowhere.py")
    (tmp_path / "p/itself.py").symlink_to("itself.py")
    (tmp_path / "p/circle").symlink_to("..")
    (tmp_path / "p/same").symlink_to("q")
    p = tmp_path / "p"
    assert found(p) == ["a.py", "out.py", "q/b.py"]
    assert found(p / "q", p, p / "q/b.py", p, within=p) == ["q/b.py", "a.py", "out.py"]
    assert found(p / "link.py", p, within=p) == ["link.py", "out.py", "q/b.py"]
    assert found(p, every_name=True) == ["a.py", "link.py", "out.py", "q/b.py"]
    assert found(p / "same", within=p) == ["same/b.py"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_pipes_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.py")
    assert found(tmp_path) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions bind only an ordinary user")
def test_a_folder_that_cannot_be_read(tmp_path: Path) -> None:
    """It is given to the reader, who is told why."""
    make(tmp_path, ["a.py", "b/c.py"])
    (tmp_path / "b").chmod(0)
    try:
        assert found(tmp_path) == ["a.py", "b"]
    finally:
        (tmp_path / "b").chmod(0o700)


def test_other_files(tmp_path: Path) -> None:
    """`finds_other_files` gives what is not Python as well, and what is taken out not even then."""
    make(tmp_path, ["a.py", "data.csv", "venv/x.csv", "pkg/py.typed", "out/b.py"])
    searching = Search(finds_other_files=True, apart_from=tmp_path / "out")
    names = [(str(file.path.relative_to(tmp_path)), file.is_source) for file in searching.files([tmp_path])]
    assert names == [("a.py", True), ("data.csv", False), ("pkg/py.typed", False)]
