"""Ragged arrays on TensorFlow: NumPy's object arrays of arrays with different lengths.

`ragged_array` has the array, `object_arrays` the conversion from and to NumPy, `tensorflow_calls` what
TensorFlow's functions do with the array. May import the levels of `tnp`
before it. Transforms, loops and boundaries of functions stay out.
"""
