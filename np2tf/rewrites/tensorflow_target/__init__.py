"""`--target tf`: NumPy programs as programs that need TensorFlow alone.

The entry is `plan`: it follows the values through a module (`expressions`, `calls`, `statements`,
`functions`), decides for each node its translation or the reason to refuse it, and plans the edits if no node
is refused. A module is translated as a whole or stays as it is. Imports `model`, `staging`, `facts`, `tree`,
`planning`, `mutation` and the floor. NumPy and TensorFlow stay out; only `pipeline` imports this folder.
"""
