"""Tables of the results of commands: for people at any width of a terminal, and as plain data for programs.

May import `verify`; the commands import this package, and never the other way round.
"""
