"""The command line: lists the demonstrations, or runs one."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import click

from np2tf.loading.programs.startup_log import hold_log

#: The names of the demonstrations, which docs/examples.md describes.
NAMES = (
    *("gelu", "gradient", "per_example_gradients", "jacobian", "lstm", "custom_activation", "optimiser"),
    *("weight_normalisation", "newton", "transformer", "stax", "neural_tangents", "ragged_sentences"),
)
#: How long each call of a case is repeated.
SECONDS = 1.0


def load(name: str) -> ModuleType:
    """Return the module of a demonstration, which has a function `cases(quick)`."""
    return importlib.import_module(f"examples.{name}")


def measured_times(name: str, quick: bool) -> dict[str, dict[str, dict[str, float]]]:
    """Compare and measure all cases of a demonstration; return the seconds by panel, size and system."""
    from examples.common.timing import measured

    times: dict[str, dict[str, dict[str, float]]] = {}
    for case in load(name).cases(quick):
        times.setdefault(case.panel, {})[case.size] = measured(case, 0.0 if quick else SECONDS)
    return times


def notes_of(name: str, quick: bool) -> list[str]:
    """Return the sentences that a demonstration says about its training; none if it trains nothing."""
    return list(getattr(load(name), "notes", lambda quick: ())(quick))


@click.command()
@click.argument("name", required=False, type=click.Choice(NAMES))
@click.option(
    "--quick", is_flag=True, help="Small sizes and few calls: a check of the results, not of speed."
)
@click.option(
    "--plot", type=click.Path(path_type=Path, dir_okay=False), help="Draw to this file: PNG or SVG."
)
@click.option("--markdown", is_flag=True, help="Print the tables for a page.")
def main(name: str | None, quick: bool, plot: Path | None, markdown: bool) -> None:
    """Run the demonstration NAME: compare all systems, and print their times. Without NAME, list all."""
    if name is None:
        for one in NAMES:
            click.echo(f"{one:22} {(load(one).__doc__ or '').splitlines()[0]}")
        return
    if plot is not None and plot.suffix not in (".png", ".svg"):
        raise click.BadParameter("the file must end in .png or .svg", param_hint="--plot")
    with hold_log():  # TensorFlow's start-up log
        import tensorflow as tf

        from examples.common.cases import has_jax
    from examples.common.drawing import draw
    from examples.common.tables import as_markdown, as_text
    from examples.common.timing import UnequalError

    tf.get_logger().setLevel("ERROR")  # says of each eager Jacobian that its loop is traced again
    try:
        times = measured_times(name, quick)
    except UnequalError as error:
        raise click.ClickException(str(error)) from None
    layout = as_markdown if markdown else as_text
    click.echo("\n\n".join(layout(panel, sizes) for panel, sizes in times.items()))
    for note in notes_of(name, quick):
        click.echo(f"\n{note}")
    if not markdown:
        click.echo("\nAll results are equal up to rounding.")
    if not has_jax():
        click.echo("JAX is not installed: its rows are left out.", err=True)
    if plot is not None:
        draw(times, plot)
