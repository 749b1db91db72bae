"""The registry of metrics.

`METRICS` is the only list of metrics: pages, command line, report and tests derive theirs from it.
"""

from __future__ import annotations

from typing import Final

from calib_core.metrics.accuracy import ACCURACY
from calib_core.metrics.auroc import AUROC
from calib_core.metrics.bias import BIAS
from calib_core.metrics.brier import BRIER, BRIER_MULTI
from calib_core.metrics.classwise_ece import CW_ECE, CW_ECE_SUM
from calib_core.metrics.ece import ACE, ECE
from calib_core.metrics.full_ece import FULL_ECE, FULL_ECE_MASS
from calib_core.metrics.mce import MCE
from calib_core.metrics.metric import Metric
from calib_core.metrics.nll import NLL

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
}
"""Every metric by id, in the order in which they are shown."""

DEFAULT_METRIC: Final = next(iter(METRICS))
"""The metric shown unless another is chosen."""
