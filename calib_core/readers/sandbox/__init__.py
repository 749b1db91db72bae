"""Reads untrusted files safely: in a worker process, with limits on memory and time."""
