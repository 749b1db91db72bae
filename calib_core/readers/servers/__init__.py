"""Reads logs of model servers: OpenAI and servers that imitate it (``openai``), and TGI (``tgi``).

``responses`` is one answer whatever its shape, and ``rows`` turns answers into a table.
"""
