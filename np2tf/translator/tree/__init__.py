"""Source text as a libcst tree and back: parsing, walking, quoting, printing only what has changed."""
