"""Many files at once: found here or in object stores, read by many processes, added up in a fixed order.

Only the command line uses this, with addresses that the person at it names.
"""
