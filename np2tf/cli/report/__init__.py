"""The report on a repository: surveyed, as tables, as a page or as Markdown."""
