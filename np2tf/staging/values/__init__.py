"""Values while code is staged: carried values, lists, containers, text, and the effects that wait for the
call to be accepted.
"""
