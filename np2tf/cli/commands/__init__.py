"""One click command per file, loaded when the user calls it."""
