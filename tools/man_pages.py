"""Writes the manual pages of np2tf and its commands from their help: `python tools/man_pages.py FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click_man.core import write_man_pages

from np2tf import __version__
from np2tf.cli.main import np2tf as top


def main(folder: Path) -> None:
    """Write the pages np2tf.1, np2tf-run.1 and so on into a folder, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    context = click.Context(top)
    commands = {name: top.get_command(context, name) for name in top.list_commands(context)}
    group = click.Group("np2tf", commands, help=top.help, params=top.params)  # with all commands loaded
    write_man_pages("np2tf", group, version=__version__, target_dir=str(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
