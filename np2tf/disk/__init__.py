"""Files on disk: which files there are, the outcome of each, its patch, and how it is written.

Imports the configuration and the diagnostics. Translating stays out: nothing here loads libcst.
"""
