"""calib_core.readers.servers."""
