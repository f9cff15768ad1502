"""Hooks and tables are added to a user's files, and all else stays as it is."""

from __future__ import annotations

import sys

import pytest
from ruamel.yaml import YAML

from np2tf.cli.adopting import CannotAddError, parse_origin, with_table
from np2tf.cli.pre_commit import has_hook, local_entry, with_entry
from tests.helpers.hooks_file import HOOKS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@pytest.mark.parametrize(
    ("text", "before", "behind"),
    [
        (HOOKS, HOOKS.partition("\n\n# afterwards")[0] + "\n", "\n# afterwards\nci:\n  skip: [a]\n"),
        ("repos:\n- repo: a\n  hooks: [{id: a}]  # x", "repos:\n- repo: a\n  hooks: [{id: a}]  # x\n", ""),
        (
            "repos:\r\n- repo: a\r\n  hooks: []\r\n# end\r\n",
            "repos:\r\n- repo: a\r\n  hooks: []\r\n",
            "# end\r\n",
        ),
    ],
)
def test_hooks_are_added_and_all_else_stays(text: str, before: str, behind: str) -> None:
    entry = local_entry(["--baseline", "b.json"])
    made = with_entry(text, entry)
    assert made.startswith(before)
    assert made.endswith(behind)
    loaded = YAML(typ="safe").load(made)
    assert loaded["repos"] == [*YAML(typ="safe").load(text)["repos"], entry]
    assert ("\r\n" in text) == ("\r\n  hooks:\r\n" in made)


@pytest.mark.parametrize(
    "text", ["", "repos: []\n", "# c\nrepos: [] # d\nfail_fast: true\n", "fail_fast: true\n"]
)
def test_hooks_where_there_are_none(text: str) -> None:
    made = with_entry(text, local_entry([]))
    loaded = YAML(typ="safe").load(made)
    assert loaded["repos"] == [local_entry([])]
    assert all(comment in made for comment in ("# c", "# d") if comment in text)
    assert has_hook(made)


@pytest.mark.parametrize("text", ["- a\n", "repos: x\n", "a: [\n"])
def test_hooks_that_cannot_be_added(text: str) -> None:
    with pytest.raises(CannotAddError):
        with_entry(text, local_entry([]))


@pytest.mark.parametrize(
    "data",
    [b"", b"x = 1", b"x = 1\r\n[tool.a]\r\nb = 2\r\n", b"\xef\xbb\xbfx = 1\n", b"tool.a.b = 1\n"],
)
def test_a_table_is_added_behind_everything(data: bytes) -> None:
    made = with_table(data, '[tool.np2tf]\ntarget = "np2tf"\n')
    assert made.startswith(data)
    assert tomllib.loads(made.decode("utf-8-sig"))["tool"]["np2tf"] == {"target": "np2tf"}
    assert (b"\r\n[tool.np2tf]\r\n" in made) == (b"\r\n" in data)


@pytest.mark.parametrize("data", [b"tool = {}\n", b"tool = 1\n", b"a = \n", b"\xff"])
def test_a_table_that_cannot_be_added(data: bytes) -> None:
    with pytest.raises(CannotAddError):
        with_table(data, '[tool.np2tf]\ntarget = "np2tf"\n')


def test_origins() -> None:
    assert parse_origin("git+https://a@b.org/x.git@v1").requirement == "np2tf @ git+https://a@b.org/x.git@v1"
    for wrong in ("https://b.org/x.git", "x@", "@v1", "https://a@b.org/x.git"):
        with pytest.raises(ValueError, match="URL@REVISION"):
            parse_origin(wrong)
