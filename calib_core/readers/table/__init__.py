"""Reads plain tables with one row per question: parses them, checks every cell, and splits them into runs."""
