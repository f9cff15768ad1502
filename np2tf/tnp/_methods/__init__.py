"""What is attached to the array class: operators, attributes, and the protocols of Python and TensorFlow.

May import the chapters and everything below them. Functions of NumPy's namespace belong to the chapters.
"""
