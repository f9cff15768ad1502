"""Arrays from numbers, from other objects, and by a rule: `array`, `zeros`, `arange`, `tri`.

May import the levels below the chapters, and `manipulation/views`. Random draws stay out.
"""
