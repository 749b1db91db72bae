"""How do files of whole distributions, one row a position, become sums?"""
