"""Golden fixtures: what a translation looks like, one test per invariant."""

from __future__ import annotations

import difflib

import pytest

from tests.helpers.golden import FIXTURES, Case, cases

CASES = cases()
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@every_case
def test_text(case: Case) -> None:
    """The translation is, byte for byte, what stands beside the source."""
    assert case.translated().data.decode("latin-1") == case.expected.read_bytes().decode("latin-1")


@every_case
def test_idempotence(case: Case) -> None:
    """Translating the translation changes nothing."""
    again = case.translated_again()
    assert again.data == case.translated().data
    assert not again.changed


@every_case
def test_diagnostics(case: Case) -> None:
    """The translation gives the diagnostics of the fixture, in the same lines."""
    assert [f"{found.line} {found.code}" for found in case.translated().diagnostics] == case.diagnostics


@every_case
def test_untouched_lines(case: Case) -> None:
    """Comments, and lines that hold nothing to translate, come out byte for byte and in order."""
    before, after = case.source.read_bytes().split(b"\n"), case.translated().data.split(b"\n")
    kept = [line for line in before if _is_plain(line)]
    if case.options.jit:
        # Lowering takes `else:` apart and may move and indent a line; its comments stay.
        kept = [line.strip() for line in kept if line.strip().startswith(b"#")]
        after = [line.strip() for line in after]
    remaining_lines = iter(after)
    missing = [line for line in kept if line not in remaining_lines]
    assert not missing, "\n".join(difflib.ndiff([str(m) for m in missing], []))


def _is_plain(line: bytes) -> bool:
    """Blank lines, comments, defs, and returns and passes that name nothing."""
    text = line.strip()
    return (
        not text
        or text.startswith((b"#", b"class ", b"else:", b"try:", b'"""'))
        or text in (b"return x", b"pass")
    )


@every_case
def test_valid_python(case: Case) -> None:
    """A translation is Python again, unless the source was not."""
    outcome = case.translated()
    if not outcome.failed:
        compile(outcome.data, case.name, "exec")


def test_no_orphans() -> None:
    """Every expected translation and every list of findings has its source."""
    sources = {case.source.name.removesuffix(".np.py") for case in CASES}
    outcomes = [*FIXTURES.glob("*/*.tf.py"), *FIXTURES.glob("*/*.diag")]
    assert {path.name.removesuffix(".tf.py").removesuffix(".diag") for path in outcomes} <= sources


def test_enough_cases() -> None:
    """The fixtures are found, and each group has some."""
    groups = {case.source.parent.name for case in CASES}
    assert {"imports", "names", "mutation", "methods", "refused"} <= groups
    assert len(CASES) >= 80
