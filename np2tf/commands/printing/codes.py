"""Explanations of diagnostic codes, with an example for each, as text and as the page of all codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

from np2tf.diagnostics import Code, codes
from np2tf.rules import read_table, rules_folder

#: The first digits of codes, and what these codes are about.
SECTIONS = {
    "0": "Names and imports",
    "1": "Writes",
    "3": "Control flow",
    "4": "Placement of `@np2tf.jit`",
    "5": "At run time",
    "6": "For TensorFlow alone",
    "7": "Gradients and batches",
    "90": "Files, and np2tf itself",
    "91": "Comments and baselines",
    "92": "`np2tf verify`",
    "93": "`np2tf run`",
    "94": "Translation at import",
    "95": "Saved models",
}
_TEST = "tests/commands/test_code_examples.py"


@dataclass(frozen=True)
class Example:
    """An entry of a file in rules/examples/.

    Attributes:
        command: prints the code.
        source: the file example.py; "" if there is none.
        files: other files.
        absent_package: a package that must not be installed.
        test: the test of a code that no example can bring up.
    """

    command: str = ""
    source: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    absent_package: str = ""
    test: str = ""

    @property
    def file_texts(self) -> dict[str, str]:
        """The files that the command needs."""
        main_file = {"example.py": self.source} if self.source else {}
        return {name: text.strip("\n") + "\n" for name, text in {**main_file, **self.files}.items()}


@lru_cache(maxsize=1)
def examples() -> Mapping[str, Example]:
    """Return the example of every code."""
    entries = {}
    for path in sorted((rules_folder() / "examples").glob("*.toml")):
        table = read_table(f"examples/{path.stem}")
        command = table.pop("command", "")
        for code, entry in table.items():
            entries[code] = Example(**{"command": command if "test" not in entry else "", **entry})
    return entries


def explanation(entry: Code) -> str:
    """Return the explanation of a code for a terminal."""
    parts = [
        f"{entry.code} ({entry.severity})",
        entry.message,
        f"Why: {entry.why}",
        f"Remedy: {entry.remedy}",
    ]
    return "\n\n".join(parts) + "\n"


def example_text(entry: Code) -> str:
    """Return the example of a code for a terminal: its files, and the command. Lines stay as they are."""
    example = examples()[entry.code]
    if example.test:
        return ""
    files = "".join(f"{name}:\n{_indent_lines(text)}\n" for name, text in example.file_texts.items())
    return f"Example:\n\n{files}{_where(example)}\n{_indent_lines(example.command.strip())}"


def _where(example: Example) -> str:
    return f"Without {example.absent_package}, run:" if example.absent_package else "Run:"


def _indent_lines(text: str) -> str:
    return "".join(f"    {line}".rstrip() + "\n" for line in text.splitlines())


def markdown() -> str:
    """Return the part of docs/diagnostics.md that comes from the tables."""
    lines: list[str] = []
    for section, entries in groupby((codes()[code] for code in sorted(codes())), _section):
        lines += [f"## {SECTIONS[section]}", ""]
        for entry in entries:
            lines += _entry(entry)
    return "\n".join(lines)


def _section(entry: Code) -> str:
    digits = entry.code.removeprefix("NP2TF")
    return digits[:2] if digits[0] == "9" else digits[0]


def _entry(entry: Code) -> Iterator[str]:
    yield from (f"### {entry.code}", "", f"*{entry.severity.capitalize()}:* {entry.title}.", "")
    yield from (entry.why, "", f"*Remedy:* {entry.remedy}", "")
    example = examples()[entry.code]
    if example.test:
        yield from (f"No source brings this code up; `{example.test}` shows it.", "")
        return
    for name, text in example.file_texts.items():
        yield from _block("python" if name.endswith(".py") else "text", text, name)
    where = f" without {example.absent_package}" if example.absent_package else ""
    yield from (f"The code is reported{where} by:", "")
    yield from _block("sh", example.command.strip() + "\n")


def _block(language: str, text: str, name: str = "") -> Iterator[str]:
    title = f' title="{name}"' if name else ""
    yield from (
        f"<!-- {_TEST} holds this example -->",
        f"```{language}{title}",
        *text.splitlines(),
        "```",
        "",
    )
