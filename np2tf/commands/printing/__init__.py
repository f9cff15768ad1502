"""Output that several commands share, or that takes a command more than a few lines.

Imports the packages whose results are shown. Options of commands stay out: the modules get results.
"""
