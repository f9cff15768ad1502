"""Which tier: may the host run a call, what has each tier cost, what have earlier processes measured, is
compiling due; all constants of that choice.
"""
