"""`np2tf cache`: shows or empties the cache of translations on disk."""

from __future__ import annotations

import json as to_json

import click

from np2tf.imports.cache import store
from np2tf.imports.cache.files import Cache


@click.group()
def cache() -> None:
    """Show or empty the cache of translations made at import.

    NP2TF_CACHE_DIR names another folder, NP2TF_CACHE_SIZE the most megabytes (256), and NP2TF_CACHE=off turns
    the cache off.
    """


@cache.command()
@click.option("--json", is_flag=True, help="Print JSON.")
def info(json: bool) -> None:
    """Say where the cache is, and how much is in it."""
    kept = _cache()
    entries = list(kept.entries())
    translations = sum(entry.path.endswith(".bin") for entry in entries)
    size = sum(entry.size for entry in entries)
    unchanged = len(list(known.entries())) if (known := store.unchanged_files_cache()) is not None else 0
    programs = len(list(decided.entries())) if (decided := store.decisions()) is not None else 0
    if json:
        told = {"folder": kept.folder, "translations": translations, "bytes": size, "limit": kept.limit}
        told |= {"programs": programs, "unchanged": unchanged}
        click.echo(to_json.dumps(told))
        return
    click.echo(f"folder: {kept.folder}")
    click.echo(f"translations: {translations}")
    click.echo(f"programs of which it is known what to compile: {programs}")
    click.echo(f"files that stay as they are: {unchanged}")
    click.echo(f"size: {size / 1e6:.1f} MB of at most {kept.limit / 1e6:.0f}")


@cache.command()
def clear() -> None:
    """Remove all that is kept; nothing else in the folder is touched."""
    parts = (_cache(), store.decisions(), store.unchanged_files_cache())
    removed = sum(part.clear() for part in parts if part is not None)
    click.echo(f"{removed} files removed")


def _cache() -> Cache:
    kept = store.cache()
    if kept is None:
        raise click.UsageError("the cache is turned off by NP2TF_CACHE")
    return kept
