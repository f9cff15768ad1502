"""The files of a project joined by their summaries. It imports no libcst."""
