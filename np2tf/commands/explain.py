"""`np2tf explain`: explains diagnostic codes, and how np2tf provides a NumPy name."""

from __future__ import annotations

import click

from np2tf import rules
from np2tf.commands import output
from np2tf.commands.printing.codes import example_text, markdown
from np2tf.commands.printing.codes import explanation as about_code
from np2tf.diagnostics import Code, codes

_KINDS = {
    "native": "made of TensorFlow operations, or known while staging",
    "host": "handed to NumPy; ends a graph",
    "no": "not translated",
}


@click.command()
@click.argument("names", nargs=-1, metavar="[CODE|NAME]…")
@click.option("--markdown", "is_markdown", is_flag=True, help="Print the codes of docs/diagnostics.md.")
def explain(names: tuple[str, ...], is_markdown: bool) -> None:
    """Explain diagnostic codes and NumPy names (np.sum); without arguments, list all codes."""
    entries = codes()
    if is_markdown:
        click.echo(markdown())
        return
    if not names:
        for code in sorted(entries):
            output.prose(f"{code}  {entries[code].message}", 10)
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
    """Return the explanation of a code or of a NumPy name.

    Raises:
        click.UsageError: there is no such code or name.
    """
    return "\n".join(_about(name)) + "\n" if _is_numpys(name) else about_code(_code(name))


def _is_numpys(name: str) -> bool:
    return name.startswith(("np.", "numpy."))


def _code(name: str) -> Code:
    entries = codes()
    code = name.upper() if name.upper().startswith("NP2TF") else f"NP2TF{name}"
    if code not in entries:
        raise click.UsageError(f"no such code: {name}; `np2tf explain` lists them all")
    return entries[code]


def _about(name: str) -> list[str]:
    """Return the entries of the rules about a NumPy name, line by line."""
    full = "numpy." + name.split(".", 1)[1]
    rule = rules.find(full) or rules.kept_names().get(full)
    if rule is None:
        raise click.UsageError(
            f"no such name: {name}; names are like np.sum, np.linalg.norm, np.ndarray.sort"
        )
    lines = [f"{rule.name} ({rule.kind}: {_KINDS[rule.kind]})"]
    if rule.new_name:
        lines.append(f"Removed from NumPy; now {rule.new_name}.")
    if rule.since:
        lines.append(f"Since NumPy {rule.since}.")
    if rule.until:
        lines.append(f"Until NumPy {rule.until}.")
    if rule.reason:
        lines.append(f"Why: {rule.reason}")
    if rule.writes:
        lines.append(f"Writes to {', '.join(rule.writes)}, and returns what it wrote to.")
    if rule.returns_view:
        lines.append("Returns a view where NumPy does.")
    if rule.dynamic_shape:
        lines.append("The shape of the result may depend on values.")
    if rule.random:
        lines.append("Draws from a stream of random numbers.")
    examples = rules.examples().get(rule.name, ())
    return lines + ["Example: " + example for example in examples]
