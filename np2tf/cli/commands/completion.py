"""np2tf completion: prints the script by which a shell completes np2tf's commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script that lets a shell complete np2tf's commands and options.

    For bash, put `eval "$(np2tf completion bash)"` into ~/.bashrc; for zsh, the same line with zsh into
    ~/.zshrc. For fish: `np2tf completion fish > ~/.config/fish/completions/np2tf.fish`.
    """
    kind = get_completion_class(shell)
    assert kind is not None  # click has all three
    click.echo(kind(click.get_current_context().find_root().command, {}, "np2tf", "_NP2TF_COMPLETE").source())
