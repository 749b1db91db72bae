"""How is a file from a stranger read so that it can hurt nobody?  In a process of its own, with limits."""
