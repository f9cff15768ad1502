"""`--target tf`: NumPy programs as programs that need TensorFlow alone.

`plan` is the way in: it follows the values through a module (`expressions`, `calls`, `statements`,
`functions`), decides of each place what it becomes or why it is refused, and plans the edits where nothing
is refused. A module is translated as a whole or stays as it is. Imports `model`, `facts`, `tree`, `planning`
and the floor; nothing here looks at NumPy or TensorFlow, and nothing outside but `pipeline` imports it.
"""
