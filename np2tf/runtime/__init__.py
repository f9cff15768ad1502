"""The run time of translated code: control flow operators, jit, statistics."""
