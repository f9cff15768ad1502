"""Basic indexing of tensors: slices in canonical form, their reads and writes, and the view transforms.

May import `_tensor` and the levels below it. Keys with arrays or masks, and the array class, stay out.
"""
