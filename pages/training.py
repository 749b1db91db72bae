"""Does calibration improve as training goes on?"""

import streamlit as st

from calib_core.analysis.training import training
from calib_core.figures.training import describe_training, training_figure
from pages.parts import cache, checkpoints, show, trainings
from pages.parts.literal import literal
from pages.parts.shell import PAGES, shell

here = shell("training", trainings.choose_training)
choice, runs = here.chosen, {run.id: run for run in here.runs}
evidences, refused = trainings.evidences(choice, here.runs)
result = cache.kept(
    ("training", *choice.key(), tuple((id_, runs[id_].file.stamp) for id_ in evidences)),
    lambda: training(evidences, choice.metric, choice.scheme),
)
chosen = checkpoints.selected(result)
st.subheader(literal(result.reading), anchor=False)
show.figure(
    training_figure(result, show.theme(), selected=chosen),
    key="training",
    alt=describe_training(result),
    on_select=lambda: checkpoints.from_figure("training"),
)
st.caption(
    "Pale: where a checkpoint's own confidences would put the number if they were exactly right (5th to 95th "
    "percentile; dotted: the median). Click a point or a row to see its reliability diagram."
)
show.recipe(trainings.recipes(result))
checkpoints.table(choice, result, chosen)
checkpoints.left_out(result, refused, {id_: run.title for id_, run in runs.items()})
if chosen is not None:
    st.divider()
    checkpoints.diagram(choice, evidences[chosen], runs[chosen], PAGES["reliability"].script)
