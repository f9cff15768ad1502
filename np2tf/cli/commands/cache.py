"""`np2tf cache`: shows or empties the cache of translations on disk."""

from __future__ import annotations

import json as to_json

import click

from np2tf.cli import output
from np2tf.core import cache as caches
from np2tf.core.cache import Cache


@click.group()
def cache() -> None:
    """Show or clear the cache of import-time translations.

    NP2TF_CACHE_DIR sets another folder, NP2TF_CACHE_SIZE the size limit in megabytes (256), and
    NP2TF_CACHE=off turns the cache off.
    """


@cache.command()
@click.option("--json", is_flag=True, help="Print JSON.")
def info(json: bool) -> None:
    """Show where the cache is and how much it holds."""
    translation_cache = _cache()
    entries = list(translation_cache.entries())
    translations = sum(entry.path.endswith(".bin") for entry in entries)
    size = sum(entry.size for entry in entries)
    files = (
        len(list(file_cache.entries())) if (file_cache := caches.unchanged_files_cache()) is not None else 0
    )
    programs = len(list(decisions.entries())) if (decisions := caches.decisions()) is not None else 0
    traces = len(list(trace_cache.entries())) if (trace_cache := caches.traces()) is not None else 0
    if json:
        data = {
            "folder": translation_cache.folder,
            "translations": translations,
            "bytes": size,
            "limit": translation_cache.limit,
        }
        data |= {"programs": programs, "unchanged": files, "traces": traces}
        click.echo(to_json.dumps(data))
        return
    click.echo(f"folder: {translation_cache.folder}")
    click.echo(f"translations: {translations}")
    click.echo(f"programs with known compile decisions: {programs}")
    click.echo(f"functions and loops with stored traces: {traces}")
    click.echo(f"files known to stay unchanged: {files}")
    click.echo(f"size: {size / 1e6:.1f} MB of at most {translation_cache.limit / 1e6:.0f}")


@cache.command()
def clear() -> None:
    """Remove everything in the cache; other files in the folder are not touched."""
    parts = (_cache(), caches.decisions(), caches.traces(), caches.unchanged_files_cache())
    count = sum(part.clear() for part in parts if part is not None)
    click.echo(f"{output.quantity(count, 'file')} removed")


def _cache() -> Cache:
    translation_cache = caches.cache()
    if translation_cache is None:
        raise click.UsageError("NP2TF_CACHE has turned the cache off")
    return translation_cache
