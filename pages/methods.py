"""Which confidence serves which model?"""

from pages.parts import many, methods_table
from pages.parts.shell import shell

choice = shell("methods", methods_table.choose_methods).choice
result = methods_table.cached_methods_table(choice)
methods_table.show_methods_summary(choice, result)
methods_table.show_methods_table(choice, result)
many.show_not_drawn(choice.selection)
methods_table.show_published_tables()
