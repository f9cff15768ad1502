"""Find the configuration that applies to a file: the nearest configuration upwards."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from np2tf.configuration.reading import check_value, read
from np2tf.configuration.settings import COMMAND_LINE, Settings

#: If a folder has both files, the first name counts.
_NAMES = ("np2tf.toml", "pyproject.toml")


class Configurations:
    """The configurations of all files that one command looks at. Each configuration is read once.

    Args:
        given: key -> value, from the command line; None means that the option is not given. `ignore` and
            `extend-exclude` add to the configuration's values, all other keys replace them.

    Raises:
        ConfigurationError: an option has a value that is not allowed.
    """

    def __init__(self, choices: Mapping[str, Any] | None = None) -> None:
        self._overrides = {
            key: check_value(key, value) for key, value in (choices or {}).items() if value not in (None, ())
        }
        self._here = Path(os.path.abspath("."))
        self._by_folder: dict[Path, Settings] = {}

    def of(self, path: str | os.PathLike[str]) -> Settings:
        """Return the settings that apply to a file, by the folder in its path.

        Raises:
            ConfigurationError: the configuration cannot be used.
        """
        return self.of_folder(os.path.dirname(os.path.abspath(path)))

    def of_folder(self, folder: str | os.PathLike[str]) -> Settings:
        """Return the settings that apply to the files directly in a folder."""
        return self._of(Path(os.path.abspath(folder)))

    def _of(self, folder: Path) -> Settings:
        settings = self._by_folder.get(folder)
        if settings is None:
            settings = self._read(folder)
            if settings is None:
                above = folder.parent
                settings = self._of(above) if above != folder else self._complete(Settings(self._here))
            self._by_folder[folder] = settings
        return settings

    def _read(self, folder: Path) -> Settings | None:
        for name in _NAMES:
            file = folder / name
            if not file.is_file():
                continue
            content = read(file)
            if content is None:
                continue
            values = {key.replace("-", "_"): value for key, value in content.values.items()}
            origins = {
                key: f"{file}:{content.lines[key]}" if key in content.lines else str(file)
                for key in content.values
            }
            return self._complete(Settings(folder, file=file, told_by=origins, **values))
        return None

    def _complete(self, settings: Settings) -> Settings:
        """Return the settings with the options of the command line applied."""
        values: dict[str, Any] = {}
        origins = dict(settings.told_by)
        for key, value in self._overrides.items():
            name = key.replace("-", "_")
            if key in ("ignore", "extend-exclude"):
                values[name] = (*getattr(settings, name), *value)
                origins[key] = f"{origins[key]} and {COMMAND_LINE}" if key in origins else COMMAND_LINE
            else:
                values[name] = value
                origins[key] = COMMAND_LINE
        if "select" in self._overrides:
            # A user who selects exactly a code that the configuration ignores wants to see it.
            codes = tuple(code for code in settings.ignore if code not in values["select"])
            values["ignore"] = (*codes, *self._overrides.get("ignore", ()))
        return replace(settings, **values, told_by=origins)
