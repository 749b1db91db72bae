"""Reads the files of HELM runs (Stanford CRFM): scenario_state.json or per_instance_stats.json.

``reader`` holds the format, ``instances`` the run's specification, its instances and their rows.
"""
