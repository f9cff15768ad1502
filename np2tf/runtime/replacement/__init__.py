"""On-stack replacement: watched loops on the host, which continue as compiled code.

May import `introspection`, `decisions` and `environment`; works without TensorFlow. Compiling a loop belongs
to `compilation`.
"""
