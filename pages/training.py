"""Does calibration improve as training goes on?"""

import streamlit as st

from calib_core.analysis.training import training_curves
from calib_core.figures.training import describe_training, training_figure
from calib_core.report.sections.training import TRAINING_CAPTION, training_recipes, training_tiles
from pages.parts import cache, checkpoints, picking, show, trainings
from pages.parts.shell import PAGES, shell

here = shell("training", trainings.choose_training)
choice, runs = here.choice, {run.id: run for run in here.runs}
evidences, refused = trainings.training_evidences(choice, here.runs)
alone = trainings.shows_single_checkpoints()
result = cache.cached_result(
    ("training", *choice.cache_key(), alone, tuple((id_, runs[id_].file.stamp) for id_ in evidences)),
    lambda: training_curves(evidences, choice.metric, choice.scheme, include_single=alone),
)
chosen = checkpoints.selected_checkpoint(result)
show.show_headline(result.headline, trainings.training_view_caption(choice, result, evidences))
show.show_tiles(training_tiles(result))
show.show_recipe("\n".join(training_recipes(result)))
show.show_remarks(*result.line_summaries)
trainings.single_checkpoints_toggle(result)
show.show_figure(
    lambda theme: training_figure(result, theme, selected=chosen, style_indices=trainings.style_indices(here.runs)),
    key="training",
    alt=describe_training(result),
    export=checkpoints.training_export(choice, result, "Metric over training"),
    on_select=lambda: picking.select_point_from_figure("training"),
)
st.caption(f"{TRAINING_CAPTION} Click a point or a row to see its reliability diagram.")
checkpoints.show_checkpoint_table(choice, result, chosen)
checkpoints.show_runs_left_out(result, refused, {id_: run.title for id_, run in runs.items()})
if chosen is not None:
    st.divider()
    checkpoints.show_checkpoint_diagram(choice, evidences[chosen], runs[chosen], PAGES["reliability"].script)
