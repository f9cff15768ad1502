"""Functions on blocks of their arguments, a block on each device of each process."""
