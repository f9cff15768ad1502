"""Output that several commands share, or that takes a command more than a few lines.

Imports what is shown. Options of commands stay out: a module here is given results.
"""
