"""`np2tf play`: a page on this machine to try translations in."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from np2tf.cli.extras import need


@click.command()
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="The port (default: any that is free)."
)
@click.option("--no-browser", is_flag=True, help="Only print the page's address.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    metavar="SECONDS",
    help="How long each program may run (60).",
)
def play(file: Path | None, port: int, no_browser: bool, timeout: float) -> None:
    """Open a page to try translations in: the source beside its translation as you type, with findings, and a
    button that runs both and compares them. FILE is what it begins with; nothing is written to it.

    Only this machine reaches the page, under an address that holds a secret: who knows it can run programs.
    """
    need("play", "flask", "numpy")
    if file is not None and file.suffix == ".ipynb":
        raise click.UsageError("a notebook cannot be shown; give a Python file")
    from np2tf.cli.play.app import Page, address_of, new_server, sample
    from np2tf.cli.play.programs import Runner

    try:
        text = sample() if file is None else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{file}: {error}") from None
    page = Page(file or Path("play.py"), text, Runner(timeout))
    try:
        server = new_server(page, port)
    except (OSError, SystemExit):  # the server ends the process if the port is taken
        raise click.UsageError(f"port {port} is taken") from None
    address = address_of(page, server)
    click.echo(f"{address}\nCtrl-C ends it.")
    if not no_browser:
        webbrowser.open(address)
    try:
        server.serve_forever()  # until Ctrl-C, at which it closes itself
    finally:
        page.runner.stop()
