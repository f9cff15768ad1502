"""`np2tf server`: a language server, with which editors show findings while the user types."""

from __future__ import annotations

import click

from np2tf.cli.extras import need


@click.command()
@click.option("--stdio", is_flag=True, help="Talk on standard input and output (default); editors pass this.")
def server(stdio: bool) -> None:
    """Serve an editor, which starts this command, on standard input and output (docs/editors.md).

    Shows findings as you type, with reasons, remedies and quick fixes; whether each function is compiled; and
    what a function or a file becomes. The configuration is that of `np2tf check`.
    """
    need("editor", "pygls", "lsprotocol")
    from np2tf.cli.editor.server import serve

    serve()
