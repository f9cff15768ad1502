"""Effects of staged code in their order: prints, text, log records, appends. They happen when a call is
accepted.

May import `introspection` and `tnp`. Staging of control flow stays out.
"""
