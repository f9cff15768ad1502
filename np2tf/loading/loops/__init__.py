"""Loops as functions of their own, and code that watches its loops, for on-stack replacement."""
