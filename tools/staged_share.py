"""Counts how many functions of the packages and projects are staged: ``python tools/staged_share.py --folder
F``.

It counts the functions of ``np2tf check --summary``. Tests are left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from np2tf.cli.files import python_files
from np2tf.translator.batch.project import Project
from np2tf.translator.control.fates import CALLED, HOST, PLAIN, STAGED, Fate, reasons, share
from tools.packages import fetch
from tools.packages.catalogue import ROOT, catalogue

DOCUMENT = ROOT / "docs" / "corpus.md"
BEGIN, END = "<!-- begin: written by tools/staged_share.py -->", "<!-- end of the shares -->"
REASONS = 12


@click.command()
@click.option(
    "--folder", required=True, type=click.Path(path_type=Path), help="Where the downloads are kept."
)
@click.option("--write-docs", is_flag=True, help="Write the table into docs/corpus.md.")
def main(folder: Path, write_docs: bool) -> None:
    """Print the table of docs/corpus.md."""
    folder.mkdir(parents=True, exist_ok=True)
    found = {name: list(_fates(path)) for name, path in _sources(folder)}
    lines = list(_table(found))
    click.echo("\n".join(lines))
    if write_docs:
        head, text_behind = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
        tail = text_behind.split(END)[1]
        text = f"{head}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{tail}"
        DOCUMENT.write_text(text, encoding="utf-8")


def _sources(folder: Path) -> Iterator[tuple[str, Path]]:
    for package in catalogue():
        root = fetch.unpacked(package, folder)
        places = [root / package.module, root / "src" / package.module, root / f"{package.module}.py"]
        yield package.name, next(place for place in places if place.exists())
    for project in sorted((ROOT / "fixtures" / "projects").iterdir()):
        if (project / "project.toml").exists():
            yield project.name, project / project.name


def _fates(path: Path) -> Iterator[Fate]:
    """Yield the fates of the functions over arrays. Calls into other files of the package count too."""
    files = [
        (file, root)
        for file, root in python_files([path])
        if not {"tests", "test"}.intersection(file.relative_to(root).parts)
        and not file.name.startswith("test_")
    ]
    project = Project(files, with_fates=True)
    for _ in project.outcomes():
        pass
    yield from (fate for _, fate in project.fates() if fate.fate != PLAIN)


def _table(found: dict[str, list[Fate]]) -> Iterator[str]:
    yield (
        "| | functions over arrays | compiled | only in a compiled caller | interpreted "
        "| with loops | compiled | interpreted |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    every = [fate for fates in found.values() for fate in fates]
    packages = [found[package.name] for package in catalogue()]
    projects = [fates for fates in found.values() if not any(fates is one for one in packages)]
    groups = {f"{len(packages)} packages": packages, f"{len(projects)} projects": projects}
    told = {name: [fate for fates in group for fate in fates] for name, group in groups.items()}
    for name, fates in [*told.items(), ("**all**", every)]:
        loops = [replace(fate, fate=HOST if fate.fate == HOST else STAGED) for fate in fates if fate.loops]
        cells = [name, str(len(fates)), *(_cell(fates, fate) for fate in (STAGED, CALLED, HOST))]
        cells += [str(len(loops)), *(_cell(loops, fate) for fate in (STAGED, HOST))]
        yield f"| {' | '.join(cells)} |"
    yield ""
    yield "| functions | why they are interpreted |"
    yield "|---:|---|"
    for reason, count in reasons(every, REASONS):
        yield f"| {count} | {reason} |"


def _cell(fates: list[Fate], fate: str) -> str:
    count, part = share(fates, fate)
    return f"{count} ({part})" if part else ""


if __name__ == "__main__":
    main()
