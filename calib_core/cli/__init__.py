"""What stands between a command line and `analysis`?  Options, files, exit codes, printing."""
