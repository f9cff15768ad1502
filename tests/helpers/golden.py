"""The golden fixtures: `<case>.np.py` beside `<case>.tf.py`, and `<case>.diag` if there are findings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from np2tf.translator.batch.one_file import Outcome, translate_bytes
from np2tf.translator.sources.options import Options

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
# The groups that show one rewrite are translated without control flow and jit, which have groups of their
# own.
PLAIN = frozenset({"imports", "names", "mutation", "methods", "refused"})


@dataclass(frozen=True)
class Case:
    """One fixture."""

    source: Path

    @property
    def name(self) -> str:
        """`group/case`."""
        return f"{self.source.parent.name}/{self.source.name.removesuffix('.np.py')}"

    @property
    def expected(self) -> Path:
        """The translation."""
        return self.source.with_name(self.source.name.replace(".np.py", ".tf.py"))

    @property
    def diagnostics(self) -> list[str]:
        """The findings, as lines `line CODE`."""
        path = self.source.with_name(self.source.name.replace(".np.py", ".diag"))
        return path.read_text().splitlines() if path.exists() else []

    @property
    def options(self) -> Options:
        """The options with which the case is translated."""
        return Options(jit=self.source.parent.name not in PLAIN)

    @cache  # noqa: B019 (cases are few, and live as long as the process)
    def translated(self) -> Outcome:
        """Return the present translation; it passes the safety check, or has the finding that it fails.

        It is made once: several tests look at it, and none changes it.
        """
        data = self.source.read_bytes()
        return translate_bytes(data, self.source, self.source.parent, self.options, is_safe=True)

    def translated_again(self) -> Outcome:
        """Return the translation of the translation."""
        return translate_bytes(self.translated().data, self.source, self.source.parent, self.options)


def cases() -> list[Case]:
    """Return every fixture, in order."""
    return [Case(path) for path in sorted(FIXTURES.glob("*/*.np.py"))]
