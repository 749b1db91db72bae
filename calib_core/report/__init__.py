"""How do results leave the program?"""
