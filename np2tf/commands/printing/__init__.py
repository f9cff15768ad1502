"""What more than one command shows, or what takes a command more than a few lines to show.

Imports what is shown. Options of commands stay out: a module here is given results.
"""
