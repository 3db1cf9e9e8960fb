"""What the released labels say to the predictions: held-out counts of every country that is out."""

from __future__ import annotations

from countback.claims.papers.cubes.study import Data, load
from countback.claims.resolve_lead import Lead
from countback.claims.settling import Counted


def lead(data: Data, judge: str) -> Counted:
    """The judge's hits less the held-out human's, country by country, with bootstrap intervals in points."""
    study = load(data)
    number = study.judge(judge)
    leads, intervals = [], {}
    for country in study.table.countries:
        counts = study.held_out("skip", country)
        if counts.comparisons:
            gap = int(counts.judges[:, number].sum()) - int(counts.human.sum())
            leads.append(Lead((country,), counts.comparisons, gap, gap))
    for name in ("D", *(lead.countries[0] for lead in leads)):
        found = study.differences("" if name == "D" else name)[judge].percentile
        intervals[name] = (100 * found.low, 100 * found.high)
    return Counted(tuple(leads), intervals, study.report.synthetic)
