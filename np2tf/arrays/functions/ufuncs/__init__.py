"""The universal functions: the class, the table, and the formulas for each kind of number."""
