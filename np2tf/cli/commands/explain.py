"""np2tf explain: explains diagnostic codes, with an example for each, and how a NumPy name is provided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby

import click

from np2tf.cli import output
from np2tf.core import rules
from np2tf.core.diagnostics import Code, codes
from np2tf.core.rules import read_table, rules_folder

# -- codes ---------------------------------------------------------------------------------------------------
# Explanations of diagnostic codes, with an example for each, as text and as the page of all codes.

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
_TEST = "tests/cli/commands/test_code_examples.py"


@dataclass(frozen=True)
class Example:
    """An entry of a file in rules/examples/.

    Attributes:
        command: prints the code.
        source: the file example.py; "" if there is none.
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


def code_explanation(entry: Code, message: str = "") -> str:
    """Return the explanation of a code for a terminal or an editor; of a finding, with its message."""
    parts = [
        f"{entry.code} ({entry.severity})",
        message or f"{entry.title[0].upper()}{entry.title[1:]}.",
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
        yield from (f"No source file triggers this code; `{example.test}` shows it.", "")
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


# -- explain -------------------------------------------------------------------------------------------------
# `np2tf explain`: explains diagnostic codes, and how np2tf provides a NumPy name.

_KINDS = {
    "native": "made of TensorFlow operations, or known at compile time",
    "host": "runs on NumPy, outside graphs",
    "no": "not translated",
}


@click.command()
@click.argument("names", nargs=-1, metavar="[CODE|NAME]…")
@click.option("--markdown", "is_markdown", is_flag=True, help="Print the codes as in docs/diagnostics.md.")
def explain(names: tuple[str, ...], is_markdown: bool) -> None:
    """Explain diagnostic codes and NumPy names (np.sum); without arguments, list all codes."""
    entries = codes()
    if is_markdown:
        click.echo(markdown())
        return
    if not names:
        for code in sorted(entries):
            output.prose(f"{code}  {entries[code].title}", 10)
        return
    for name in names:
        show(name)


def show(name: str) -> None:
    """Print the explanation of a code or of a NumPy name."""
    output.prose(explanation(name))
    example = "" if _is_numpys(name) else example_text(_code(name))
    if example:
        click.echo(example)


def explanation(name: str) -> str:
    """Return the explanation of a code or of a NumPy name; any other name raises click.UsageError."""
    return "\n".join(_about(name)) + "\n" if _is_numpys(name) else code_explanation(_code(name))


def _is_numpys(name: str) -> bool:
    return name.startswith(("np.", "numpy."))


def _code(name: str) -> Code:
    entries = codes()
    code = name.upper() if name.upper().startswith("NP2TF") else f"NP2TF{name}"
    if code in entries:
        return entries[code]
    if not any(character.isdigit() for character in name):  # of a NumPy name, without `np.`
        like = output.meant(f"np.{name}", _numpy_names())
        raise click.UsageError(f"no such code: {name}{like or '; names look like np.sum'}")
    like = output.meant(code, entries)
    raise click.UsageError(f"no such code: {name}{like or '; `np2tf explain` lists them all'}")


def _numpy_names() -> list[str]:
    return [f"np.{name.removeprefix('numpy.')}" for name in rules.rules()]


def _about(name: str) -> list[str]:
    """Return the entries of the rules about a NumPy name, line by line."""
    full = "numpy." + name.split(".", 1)[1]
    rule = rules.find_any(full)
    if rule is None:
        like = output.meant(f"np.{name.split('.', 1)[1]}", _numpy_names())
        raise click.UsageError(
            f"no such name: {name}{like or '; names look like np.sum, np.linalg.norm, np.ndarray.sort'}"
        )
    lines = [f"{rule.name} ({rule.kind}: {_KINDS[rule.kind]})"]
    if rule.removed and (rule.new_name or rule.expression):
        lines.append(f"Removed from NumPy; now {rule.new_name or rule.expression}.")
    if rule.since:
        lines.append(f"Since NumPy {rule.since}.")
    if rule.until:
        lines.append(f"Until NumPy {rule.until}.")
    if rule.reason:
        lines.append(f"Why: {rule.reason}")
    if rule.writes:
        lines.append(f"Writes to {', '.join(rule.writes)} and returns what it wrote to.")
    if rule.returns_view:
        lines.append("Returns a view where NumPy does.")
    if rule.dynamic_shape:
        lines.append("The result's shape may depend on values.")
    if rule.random:
        lines.append("Draws random numbers from a stream.")
    examples = rules.examples().get(rule.name, ())
    return lines + ["Example: " + example for example in examples]
