"""How do the logs of evaluation tools and model servers become tables under their own field names?"""
