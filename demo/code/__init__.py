"""Can tiny models of source code be believed, token by token?  Recipe R1 (`python -m demo r1`)."""
