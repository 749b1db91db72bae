"""What is calibration, on this data?"""

from pages.parts import tour_view
from pages.parts.shell import shell
from pages.parts.tour import choose_tour

chosen = shell("tour", choose_tour).chosen
tour_view.style(chosen)
tour_view.way(chosen)
tour_view.step(chosen)
