"""Control flow: which functions and constructs are lowered, and how."""
