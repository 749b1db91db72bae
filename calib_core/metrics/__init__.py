"""The registry of metrics.

`METRICS` is the only list of metrics: pages, command line, report and tests derive theirs from it.
"""

from __future__ import annotations

from typing import Final

from calib_core.metrics.accuracy import ACCURACY
from calib_core.metrics.aurc import AURC
from calib_core.metrics.auroc import AUROC, SERVER_AUROC
from calib_core.metrics.bias import BIAS
from calib_core.metrics.brier import BRIER, BRIER_MULTI, BRIER_SKILL
from calib_core.metrics.brier_decomposition import (
    BRIER_DISCRIMINATION,
    BRIER_MISCALIBRATION,
    BRIER_UNCERTAINTY,
)
from calib_core.metrics.classwise_ece import CW_ECE, CW_ECE_SUM
from calib_core.metrics.ece import ACE, ECE, ECE_DEBIASED_SQ
from calib_core.metrics.full_ece import FULL_ECE, FULL_ECE_MASS
from calib_core.metrics.log_loss import LOG_LOSS
from calib_core.metrics.mce import MCE
from calib_core.metrics.metric import Metric
from calib_core.metrics.nll import NLL
from calib_core.metrics.ordered import EXPECTATION_ERROR, RPS
from calib_core.metrics.smooth_ece import SMOOTH_ECE

METRICS: Final[dict[str, Metric]] = {
    ECE.id: ECE,
    MCE.id: MCE,
    ACE.id: ACE,
    BRIER.id: BRIER,
    BRIER_MULTI.id: BRIER_MULTI,
    NLL.id: NLL,
    ACCURACY.id: ACCURACY,
    BIAS.id: BIAS,
    AUROC.id: AUROC,
    CW_ECE.id: CW_ECE,
    CW_ECE_SUM.id: CW_ECE_SUM,
    FULL_ECE.id: FULL_ECE,
    FULL_ECE_MASS.id: FULL_ECE_MASS,
    ECE_DEBIASED_SQ.id: ECE_DEBIASED_SQ,
    SMOOTH_ECE.id: SMOOTH_ECE,
    BRIER_SKILL.id: BRIER_SKILL,
    BRIER_MISCALIBRATION.id: BRIER_MISCALIBRATION,
    BRIER_DISCRIMINATION.id: BRIER_DISCRIMINATION,
    BRIER_UNCERTAINTY.id: BRIER_UNCERTAINTY,
    AURC.id: AURC,
    LOG_LOSS.id: LOG_LOSS,
    RPS.id: RPS,
    EXPECTATION_ERROR.id: EXPECTATION_ERROR,
    SERVER_AUROC.id: SERVER_AUROC,
}
"""Every metric by id, in the order in which they are shown."""

DEFAULT_METRIC: Final = next(iter(METRICS))
"""The metric shown unless another is chosen."""
