"""Configurations: which configuration applies to a file, what it may say, and what it selects."""

from __future__ import annotations

from pathlib import Path

import pytest

from np2tf.cli.configuration import DEFAULT_EXCLUDE, KEYS, ConfigurationError, Configurations


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def write(path: Path, text: str) -> Path:
    """A file with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_without_a_configuration_defaults_apply(project: Path) -> None:
    settings = Configurations().of(project / "a.py")
    assert (settings.target, settings.jit, settings.exclude) == ("np2tf", True, DEFAULT_EXCLUDE)
    assert settings.file is None
    assert settings.told_by == {}
    assert settings.is_selected("NP2TF401", project / "a.py")


def test_the_nearest_counts_as_a_whole(project: Path) -> None:
    """Nothing of a configuration further up is left; a pyproject.toml without a table does not count."""
    top = write(project / "pyproject.toml", "[tool.np2tf]\njit = false\nignore = ['NP2TF4']\n")
    write(project / "deep/pyproject.toml", "[tool.other]\njit = 1\n")
    near = write(project / "deep/er/np2tf.toml", "line-length = 80\n")
    configurations = Configurations()
    settings = configurations.of(project / "deep/a.py")
    assert (settings.file, settings.jit, settings.folder) == (top, False, project)
    assert settings.told_by["jit"] == f"{top}:2"
    settings = configurations.of(project / "deep/er/even/deeper/a.py")
    assert (settings.file, settings.jit, settings.ignore) == (near, True, ())
    assert settings.line_length == settings.options().line_length == 80


def test_lines_are_as_long_as_the_formatter_makes_them(project: Path) -> None:
    """The nearest settings of ruff or Black count, unless np2tf's own settings have a length."""
    top = write(project / "pyproject.toml", "[tool.black]\nline-length = 100\n[tool.np2tf]\njit = false\n")
    ruff = write(project / "near/ruff.toml", "line-length = 72\n")
    write(project / "near/pyproject.toml", "[tool.black]\nline-length = 79\n")
    write(project / "default/pyproject.toml", "[tool.ruff.lint]\nselect = []\n")
    write(project / "wrong/pyproject.toml", "[tool.ruff]\nline-length = 'a'\n")
    write(project / "broken/ruff.toml", "line-length =\n")
    configurations = Configurations()

    def width(folder: str) -> tuple[int, str | None]:
        settings = configurations.of_folder(project / folder)
        assert settings.jit is False
        return settings.options().line_length, settings.told_by.get("line-length")

    assert width(".") == width("other") == width("broken") == (100, str(top))
    assert width("near") == width("near/er") == (72, str(ruff))
    assert width("default") == (88, str(project / "default/pyproject.toml"))
    assert width("wrong") == (88, str(project / "wrong/pyproject.toml"))
    assert Configurations({"line-length": 60}).of_folder(project).line_length == 60
    write(project / "own/np2tf.toml", "line-length = 80\n")
    assert Configurations().of_folder(project / "own").line_length == 80


def test_np2tf_toml_goes_before_pyproject(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.np2tf]\njit = false\n")
    write(project / "np2tf.toml", "")
    assert Configurations().of(project / "a.py").jit is True


def test_the_command_line_goes_before_all(project: Path) -> None:
    """The command line replaces a file's values; `ignore` and `extend-exclude` add to a file's values."""
    text = "[tool.np2tf]\njit = false\nselect = ['NP2TF4']\nignore = ['NP2TF401', 'NP2TF402']\n"
    file = write(project / "pyproject.toml", text)
    given = {"jit": True, "select": ("401", "NP2TF5"), "ignore": ("NP2TF501",), "exclude": None}
    settings = Configurations(given).of(project / "a.py")
    assert settings.jit is True
    assert settings.select == ("NP2TF401", "NP2TF5")
    assert settings.ignore == ("NP2TF402", "NP2TF501")  # 401 is asked for by name
    assert settings.told_by["select"] == "the command line"
    assert settings.told_by["ignore"] == f"{file}:4 and the command line"


@pytest.mark.parametrize(
    ("select", "ignore", "shown", "hidden"),
    [
        (["ALL"], [], ["NP2TF101", "NP2TF501"], []),
        (["NP2TF4"], [], ["NP2TF401", "NP2TF402"], ["NP2TF101", "NP2TF501"]),
        (["NP2TF4"], ["NP2TF402"], ["NP2TF401"], ["NP2TF402"]),
        (["ALL", "NP2TF402"], ["NP2TF4"], ["NP2TF402", "NP2TF101"], ["NP2TF401"]),
        (["NP2TF402"], ["NP2TF402"], [], ["NP2TF402"]),
        ([], [], [], ["NP2TF401"]),
    ],
)
def test_selection(
    project: Path, select: list[str], ignore: list[str], shown: list[str], hidden: list[str]
) -> None:
    """The longest beginning decides, `ignore` where both are as long; errors are always shown."""
    write(project / "np2tf.toml", f"select = {select}\nignore = {ignore}\n")
    settings = Configurations().of(project / "a.py")
    assert [code for code in shown + hidden if settings.is_selected(code, project / "a.py")] == shown
    assert settings.is_selected("NP2TF901", project / "a.py")


def test_per_file_ignores(project: Path) -> None:
    """Patterns are git's, relative to the configuration; `!` turns one round."""
    text = (
        "[tool.np2tf.per-file-ignores]\n'tests/*' = ['NP2TF4']\n'*_old.py' = ['ALL']\n'!src/**' = ['501']\n"
    )
    write(project / "pyproject.toml", text)
    settings = Configurations().of(project / "a.py")

    def shown(path: str) -> list[str]:
        return [code for code in ("NP2TF101", "NP2TF401", "NP2TF501") if settings.is_selected(code, path)]

    assert shown(str(project / "src/a.py")) == ["NP2TF101", "NP2TF401", "NP2TF501"]
    assert shown(str(project / "tests/a.py")) == ["NP2TF101"]
    assert shown(str(project / "src/tests/a.py")) == ["NP2TF101", "NP2TF401", "NP2TF501"]
    assert shown(str(project / "src/x_old.py")) == []
    assert shown("/elsewhere/tests/a.py") == ["NP2TF101", "NP2TF401", "NP2TF501"]


def test_relative_paths_are_those_of_the_current_folder(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project / "np2tf.toml", "per-file-ignores = {'sub/*' = ['ALL']}\n")
    (project / "sub").mkdir()
    monkeypatch.chdir(project / "sub")
    assert not Configurations().of("a.py").is_selected("NP2TF401", "a.py")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("slect = []", ":1: unknown key `slect`; did you mean `select`?"),
        (
            "\n\nper_file_ignores = {}",
            ":3: unknown key `per_file_ignores`; did you mean `per-file-ignores`?",
        ),
        ("zzz = 1", ":1: unknown key `zzz`"),
        ("jit = 1", ":1: `jit` must be true or false, not an integer"),
        ("jit = 'yes'", ":1: `jit` must be true or false, not a string"),
        ("# jit\nline-length = true", ":2: `line-length` must be an integer, not a boolean"),
        ("line-length = 3", ":1: `line-length` must be from 40 to 1000, not 3"),
        ("select = 'NP2TF4'", ":1: `select` must be a list of strings, not a string"),
        ("select = ['NP2TF4', 4]", ":1: `select` must be a list of strings; 4 is an integer"),
        (
            "ignore = ['NP2FT401']",
            ':1: `ignore` has "NP2FT401", but no code starts with it; did you mean `NP2TF401`?',
        ),
        ("ignore = ['']", ':1: `ignore` has "", but no code starts with it'),
        ("target = 'nptf'", ':1: `target` must be "np2tf", "tf", not "nptf"; did you mean `np2tf`?'),
        ("target = []", ":1: `target` must be a string, not a list"),
        ("exclude = {}", ":1: `exclude` must be a list of strings, not a table"),
        ("exclude = ['a', '!']", ':1: `exclude` has a pattern that git would reject: "!"'),
        (
            "per-file-ignores = []",
            ":1: `per-file-ignores` must be a table of patterns with lists of codes, not a list",
        ),
        (
            "[per-file-ignores]\n'a' = 'NP2TF4'",
            ":1: `per-file-ignores` must be a list of strings, not a string",
        ),
        ("jit = maybe", ": not valid TOML: "),
    ],
)
def test_what_no_configuration_may_say(project: Path, text: str, told: str) -> None:
    """The file, the line, the reason, and what may have been meant."""
    file = write(project / "np2tf.toml", text + "\n")
    with pytest.raises(ConfigurationError) as caught:
        Configurations().of(project / "a.py")
    assert str(caught.value).startswith(f"{file}{told}")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[tool.other]\njit = 1\n[tool.np2tf]\n'jit' = 1\n", ":4"),
        ("[tool]\nnp2tf.jit = 1\n", ""),
        ("[tool.np2tf.slect]\n", ":1"),
        ("[ tool . np2tf ]\n\n  jit=1\n", ":3"),
    ],
)
def test_the_line_of_a_mistake(project: Path, text: str, line: str) -> None:
    """As people write TOML; where it is spelled otherwise, the file alone is named."""
    file = write(project / "pyproject.toml", text)
    with pytest.raises(ConfigurationError) as caught:
        Configurations().of(project / "a.py")
    assert str(caught.value).startswith(f"{file}{line}: ")


def test_somebody_elses_broken_file_is_no_trouble(project: Path) -> None:
    write(project / "pyproject.toml", "[tool.black\n")
    assert Configurations().of(project / "a.py").file is None


def test_a_table_that_is_none(project: Path) -> None:
    write(project / "pyproject.toml", "[tool]\nnp2tf = 1\n")
    with pytest.raises(ConfigurationError, match="must be a table, not an integer"):
        Configurations().of(project / "a.py")


def test_every_key_is_a_setting(project: Path) -> None:
    """Every key that a configuration may hold is an attribute of the settings."""
    settings = Configurations().of(project)
    assert all(hasattr(settings, key.replace("-", "_")) for key in KEYS)


def test_what_the_command_line_says_is_looked_at(project: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"^`select` has \"X1\", but no code starts with it"):
        Configurations({"select": ["X1"]})
