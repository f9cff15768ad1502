"""`--target tf`: follows the possible values of a program, to translate it to TensorFlow alone."""
