"""Files on disk: which ones there are, what became of one, its patch, and how it is written.

Imports the configuration and the diagnostics. What translates stays out: nothing here loads libcst.
"""
