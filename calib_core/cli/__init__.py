"""The command line: options, input files, exit codes and printing."""
