"""np2tf inside other tools: Keras, saved models, pytest, IPython."""
