"""Does calibration improve as training goes on?"""

import streamlit as st

from calib_core.analysis.training import training
from calib_core.figures.training import describe_training, training_figure
from calib_core.report.sections.training import CAPTION, recipes, tiles
from pages.parts import cache, checkpoints, picking, show, trainings
from pages.parts.shell import PAGES, shell

here = shell("training", trainings.choose_training)
choice, runs = here.chosen, {run.id: run for run in here.runs}
evidences, refused = trainings.evidences(choice, here.runs)
alone = trainings.alone()
result = cache.kept(
    ("training", *choice.key(), alone, tuple((id_, runs[id_].file.stamp) for id_ in evidences)),
    lambda: training(evidences, choice.metric, choice.scheme, alone=alone),
)
chosen = checkpoints.selected(result)
show.reading(result.reading, trainings.looking_at(choice, result, evidences))
show.tiles(tiles(result))
show.recipe("\n".join(recipes(result)))
show.remarks(*result.ends)
trainings.switch(result)
show.figure(
    lambda theme: training_figure(result, theme, selected=chosen, places=trainings.places(here.runs)),
    key="training",
    alt=describe_training(result),
    export=checkpoints.export(choice, result, "Metric over training"),
    on_select=lambda: picking.point_from_figure("training"),
)
st.caption(f"{CAPTION} Click a point or a row to see its reliability diagram.")
checkpoints.table(choice, result, chosen)
checkpoints.left_out(result, refused, {id_: run.title for id_, run in runs.items()})
if chosen is not None:
    st.divider()
    checkpoints.diagram(choice, evidences[chosen], runs[chosen], PAGES["reliability"].script)
