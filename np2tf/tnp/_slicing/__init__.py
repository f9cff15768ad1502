"""Basic indexing of tensors: slices in canonical form, their reads and writes, and the view transforms.

May import `_tensor` and what lies below it. Keys with arrays or masks, and the array class, stay out.
"""
