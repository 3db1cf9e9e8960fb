"""One audit: plan, locate the releases, recount, judge. Words nothing and prints nothing.

folders -> Paper -> Sources (which released files are here, and what is proved of them) -> Verdict per claim
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from countback.audit.recount import Absent, Data, Located, kit, recount
from countback.claims import verdict as v
from countback.claims.arithmetic import judge_relation
from countback.claims.registry import Claim, Paper, find_papers, load_paper
from countback.claims.verdict import Verdict
from countback.fetch.errors import UserError

KINDS = ("arithmetic", "recount", "model", "metadata", "asserted")


@dataclass(frozen=True)
class Run:
    """The result of one audit. `short` names papers that collected fewer claims than their paper.toml requires."""

    papers: tuple[Paper, ...]
    verdicts: tuple[Verdict, ...]
    inputs: tuple[Located, ...]
    short: tuple[str, ...] = ()

    def exit_code(self, *, strict: bool = False) -> int:
        """0 all that was checked agrees or is known; 1 something unexpected; 3 incomplete."""
        if any(not verdict.expected for verdict in self.verdicts):
            return 1
        if self.short or (strict and any(verdict.verdict == v.UNCHECKED for verdict in self.verdicts)):
            return 3
        return 0

    def as_json(self, *, pictures: bool = True) -> dict[str, Any]:
        """The stable form, schema countback.verdicts/1; its list "pictures" is additive and takes time to make."""
        told = {
            "schema": "countback.verdicts/1",
            "kit": kit(),
            "inputs": [located.as_json() for located in self.inputs],
            "summary": v.summary(self.verdicts),
            "verdicts": [verdict.as_json() for verdict in self.verdicts],
        }
        if pictures:
            from countback.audit.gallery import collect

            told["pictures"] = collect(self.papers, self.inputs)
        return told


Obtain = Callable[[Paper], dict[str, Located]]


def audit(folders: Iterable[Path], obtain: Obtain, *, kinds: tuple[str, ...] = ()) -> Run:
    """Audit paper folders; `obtain` says where each paper's released files are. `kinds` keeps only those claims."""
    papers = tuple(load_paper(folder) for folder in folders)
    by_id = {paper.id: paper for paper in papers}
    for paper in papers:
        if by_id[paper.id] is not paper:
            raise UserError(
                f'{paper.folder} and {by_id[paper.id].folder} both hold a paper "{paper.id}"; check one at a time'
            )
    verdicts: list[Verdict] = []
    inputs: list[Located] = []
    for paper in papers:
        files = obtain(paper) if any(claim.recipe for claim in paper.claims) else {}
        inputs.extend(files.values())
        verdicts.extend(judge(paper, claim, files) for claim in paper.claims if not kinds or claim.kind in kinds)
    short = () if kinds else tuple(p.id for p in papers if len(p.claims) < p.spec.requires)
    return Run(papers, tuple(verdicts), tuple(inputs), short)


def judge(paper: Paper, claim: Claim, files: dict[str, Located]) -> Verdict:
    """The verdict on one claim."""
    verdict = _judge(paper, claim, files)
    if claim.drafts:
        more = f" and {len(claim.drafts) - 1} more" if claim.drafts[1:] else ""
        return v.not_evidence(verdict, f"{v.UNCONFIRMED}: {claim.drafts[0]}{more}")
    return verdict


def _judge(paper: Paper, claim: Claim, files: dict[str, Located]) -> Verdict:
    if claim.check is not None:
        try:
            return judge_relation(claim, paper.spec.rounding)
        except UserError as error:
            raise UserError(f"{paper.folder / 'claims.toml'}: {error}", exit_code=error.exit_code) from None
    if claim.asserted:
        return v.unchecked(claim, f"{v.ASSERTED}: {claim.asserted}")
    return recount(paper, claim, files)


__all__ = ["Absent", "Data", "Located", "Run", "audit", "find_papers", "judge", "kit"]
