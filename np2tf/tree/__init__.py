"""Source text as a tree: parsing, printing, walking and quoting."""
