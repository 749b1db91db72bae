"""How large is the share of an answer among samples that did not choose it?

The largest of several noisy shares is too large: samples that are right exactly as often as their answer is
probable seem over-confident where the samples that choose the answer also count for it. Where half of them
choose and the others count, the mean share is without bias (Wang et al. 2026, arXiv:2605.08432).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calib_core.methods.answers.cluster import ABSENT_CODE, Clusters, EncodedSamples, SampleGroups
from calib_core.methods.answers.unparseable import UNPARSED_CODE, counted_samples


def hold_out(clusters: Clusters) -> Clusters:
    """The answer that the first half of the samples chooses, with its size among the others.

    Samples are independent, so that any half may choose; the half is by their order in the file, and of an
    odd number the larger part counts.

    Returns
    -------
    Clusters
        `majority_first` and `is_tied` are of the first ⌊n/2⌋ samples of each row, `majority_size` (which may
        be 0) and `n_counted` of the others; the rest is of all samples.
    """
    samples = clusters.samples
    half = samples.counts // 2
    row = np.repeat(np.arange(half.size), samples.counts)
    chooses = np.arange(row.size) - samples.starts[row] < half[row]
    groups = SampleGroups.from_samples(EncodedSamples(half, samples.codes[chooses], samples.has_labels))
    chosen = np.full(half.size, ABSENT_CODE, np.int32)
    known = np.flatnonzero(groups.majority_first >= 0)
    chosen[known] = samples.codes[samples.starts[known] + groups.majority_first[known]]
    row, codes = row[~chooses], samples.codes[~chooses]
    unparsed = np.bincount(row[codes == UNPARSED_CODE], minlength=half.size)
    return replace(
        clusters,
        n_counted=counted_samples(samples.counts - half, unparsed, clusters.rule),
        majority_size=np.bincount(row[codes == chosen[row]], minlength=half.size),
        majority_first=groups.majority_first,
        is_tied=groups.is_tied,
    )
