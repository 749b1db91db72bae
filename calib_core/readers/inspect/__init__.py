"""Reads the logs of Inspect (UK AI Security Institute), archives (`.eval`) as well as JSON files.

``reader`` holds the format and the log's header, ``archive`` the access to an archive that is not
trusted, and ``samples`` one question with its samples.
"""
