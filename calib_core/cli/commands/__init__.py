"""calib_core.cli.commands."""
