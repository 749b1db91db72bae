"""What is calibration, on this data?"""

from pages.parts import tour_view
from pages.parts.shell import shell
from pages.parts.tour import choose_tour

chosen = shell("tour", choose_tour).choice
tour_view.apply_style_sheets(chosen)
tour_view.show_step_buttons(chosen)
tour_view.show_step(chosen)
