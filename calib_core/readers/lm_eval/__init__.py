"""Reads the samples logs of EleutherAI's lm-evaluation-harness and of lmms-eval.

``reader`` holds the format, ``documents`` one record of the log, ``gold_match`` the right choice, and
``results`` the results file beside the log.
"""
