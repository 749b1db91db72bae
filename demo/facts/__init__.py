"""Do tiny models know what they know of Python's own library?  Recipe R3 (`python -m demo r3`)."""
