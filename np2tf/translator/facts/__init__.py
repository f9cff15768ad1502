"""Read-only analyses of one module and its functions. Nothing here edits a tree."""
