"""The plan of edits, and the rewrites of names, imports and writes."""
