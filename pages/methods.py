"""Which confidence serves which model?"""

from pages.parts import many, methods_table
from pages.parts.shell import shell

choice = shell("methods", methods_table.choose_methods).chosen
result = methods_table.result_of(choice)
methods_table.verdict(choice, result)
methods_table.own(choice, result)
many.left_out(choice.many)
methods_table.published()
