"""Ragged arrays on TensorFlow: NumPy's object arrays of arrays with different lengths.

`ragged_array` has the array, `object_arrays` the conversion from and to NumPy. May import the levels of `tnp`
before it. Transforms, loops and boundaries of functions stay out.
"""
