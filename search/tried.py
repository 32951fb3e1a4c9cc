"""The lineage of a candidate, and what was tried and did not stay, in the detail that a full memory shows. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import fsum, sqrt
from statistics import stdev

from ..core.faults import in_words, is_service_failure, is_stopped
from ..core.order_ids import parse
from ..core.programs.program_text import MAX_FAULT, digest
from ..core.text import one_line
from ..core.values import CandidateState, Change, Episode, FreshPair, Rejection, Verdict
from .meetings.stream import Records, fitnesses

MAX_CHANGES = 3  # episodes of a rejected edit that a full memory shows
BESIDE = 2  # generations for which attempts at other programs are remembered
TRIED = 200  # attempts that are remembered of the elite and its ancestors


def with_details(
    rejection: Rejection, candidate: CandidateState, current: CandidateState, earlier: Sequence[Rejection]
) -> Rejection:
    """A rejected edit of `current` with its verdict; `earlier` are the edits that were rejected before it."""
    if not candidate.program.text:
        return replace(rejection, edited=current.id, verdict=Verdict.FAILED)
    shape = candidate.shape or digest(candidate.program)
    same = next((one.candidate for one in earlier if one.shape == shape), "")
    rose, fell, error = paired_changes(candidate, current)
    changes = changes_of(candidate, current)
    episode = _telling(candidate, changes)
    failed = candidate.fault is not None
    verdict = Verdict.FAILED if failed else Verdict.LOST
    return replace(
        rejection,
        edited=current.id,
        verdict=Verdict.STOPPED if is_stopped(candidate.fault) else Verdict.SAME if same else verdict,
        reason=rejection.reason if failed else faults_in_words(candidate) or rejection.reason,
        shape=shape,
        same_as=same,
        rose=rose,
        fell=fell,
        standard_error=error,
        changes=changes,
        report=episode.notes.report if episode else {},
        reported_in=episode.index if episode else 0,
        fitness=None if candidate.fault or candidate.bound is not None else candidate.fitness,
    )


def changes_of(candidate: CandidateState, current: CandidateState) -> tuple[Change, ...]:
    """The episodes in which f_e changed most, at most 3, the largest change first."""
    found = [
        Change(
            episode=episode.index, before=old.fitness, after=new.fitness, ended_by=episode.ended_by,
            steps=episode.steps, stage=last_stage(episode), ended_before=was.ended_by,
        )
        for episode, new, was, old in zip(
            candidate.episodes, candidate.scores, current.episodes, current.scores, strict=False
        )
        if new.fitness != old.fitness
    ]
    return tuple(sorted(found, key=lambda one: (-abs(one.after - one.before), one.episode))[:MAX_CHANGES])


def last_stage(episode: Episode) -> str:
    """The stage that its program named last; "" for none, or where it entered one again, so that this is not known."""
    stages = episode.notes.stages
    return stages[-1].name if stages and all(each.entries == 1 for each in stages) else ""


def paired_changes(candidate: CandidateState, current: CandidateState) -> tuple[int, int, float | None]:
    """In how many episodes f_e rose and fell, and the standard error of the mean difference; None below 2 episodes.

    The episodes of both have the same seeds, so they are compared in pairs.
    """
    pairs = zip(candidate.scores, current.scores, strict=False)
    differences = [new.fitness - old.fitness for new, old in pairs]
    rose, fell = sum(one > 0 for one in differences), sum(one < 0 for one in differences)
    return rose, fell, stdev(differences) / sqrt(len(differences)) if len(differences) > 1 else None


def faults_in_words(candidate: CandidateState) -> str:
    """How many episodes ended with a fault, with the first message; "" for none."""
    faults = [episode.fault for episode in candidate.episodes if episode.fault is not None]
    if not faults:
        return ""
    said = f"{len(faults)} of {len(candidate.episodes)} episodes ended with a fault: {faults[0].kind}: "
    return one_line(said + faults[0].message, MAX_FAULT)


def not_chosen(
    candidates: Iterable[CandidateState | None], elite: CandidateState, records: Records, *, measured: bool
) -> tuple[Rejection, ...]:
    """The macro-mutations and crossovers of a generation that did not become the elite.

    Where all of them are `measured`, each is compared with the elite that was chosen, also on fresh episodes as far as
    the `records` have both. Otherwise none is: racing prunes
    some of them, and which ones depends on the order of arrival.
    """
    return tuple(
        replace(_lost(one, elite, measured=measured), fresh=_on_fresh(one, elite, records))
        for one in candidates
        if one is not None and one.id != elite.id and not is_service_failure(one.fault)
    )


def _lost(candidate: CandidateState, elite: CandidateState, *, measured: bool) -> Rejection:
    rejection = Rejection(
        summary=candidate.summary,
        candidate=candidate.id,
        fitness_difference=None,
        reason=_why(candidate),
        operator=candidate.operator,
        edited=candidate.parents[0] if candidate.parents else "",
        verdict=_why_not(candidate),
    )
    if not measured or candidate.fault is not None:
        return rejection
    changes = changes_of(candidate, elite)
    episode = _telling(candidate, changes)
    return replace(
        rejection,
        fitness_difference=candidate.fitness - elite.fitness,
        changes=tuple(each for each in changes if each.after < each.before),
        reason=faults_in_words(candidate) or rejection.reason,
        report=episode.notes.report if episode else {},
        reported_in=episode.index if episode else 0,
        fitness=candidate.fitness,
        idle=bool(candidate.lineage) and candidate.lineage[-1].idle,
    )


def _on_fresh(candidate: CandidateState, elite: CandidateState, records: Records) -> FreshPair | None:
    """What both did on the fresh episodes that both were seen on; None for none."""
    found = [fitnesses(records, one) for one in (candidate, elite)]
    count = min(map(len, found))
    means = [fsum(each[:count]) / count for each in found] if count else []
    return FreshPair(episodes=count, rejected=means[0], chosen=means[1]) if means else None


def _why_not(candidate: CandidateState) -> Verdict:
    if is_stopped(candidate.fault):
        return Verdict.STOPPED
    return Verdict.NOT_CHOSEN if candidate.program.text else Verdict.FAILED


def _telling(candidate: CandidateState, changes: Sequence[Change]) -> Episode | None:
    """The episode whose report says most about an edit: the one that it changed most, else the worst one."""
    reported = {episode.index: episode for episode in candidate.episodes if episode.notes.report}
    changed = [reported[change.episode] for change in changes if change.episode in reported]
    if changed:
        return changed[0]
    pairs = zip(candidate.episodes, candidate.scores, strict=False)
    ranked = sorted(pairs, key=lambda pair: (pair[1].fitness, pair[0].index))
    return next((episode for episode, _ in ranked if episode.index in reported), None)


def of_lineage(tried: Sequence[Rejection], elite: CandidateState, since: int) -> tuple[Rejection, ...]:
    """The latest attempts at the elite and its ancestors, and all from generation `since` on; others are forgotten.

    Those were made beside the elite, of programs that it does not descend from: what failed there may fail again.
    """
    names = {ancestor.id for ancestor in elite.lineage} | {elite.id}
    kept = (one for one in tried if one.candidate != elite.id and one.candidate not in names)
    return tuple(one for one in kept if one.edited in names or parse(one.candidate).generation >= since)[-TRIED:]


def without_figures(rejections: Sequence[Rejection], *, full: bool) -> tuple[Rejection, ...]:
    """The memory after another evaluator took the place of that by which these edits lost.

    What failed, failed under any evaluator. The others lose their figures and may be proposed again; where prompts do
    not show why an edit was rejected (not `full`), they are forgotten.
    """
    kept = (Verdict.FAILED, Verdict.STOPPED, Verdict.REPLACED)
    return tuple(
        one if one.verdict in kept else replace(
            one, verdict=Verdict.REPLACED, fitness_difference=None, fitness=None, rose=0, fell=0, standard_error=None,
            changes=(), shape="", same_as="", idle=False,
        )
        for one in rejections if full or one.verdict in kept or _has_failed(one)
    )


def _has_failed(rejection: Rejection) -> bool:
    """Whether an edit failed as a whole; a memory of summaries alone has no verdict that says so."""
    return rejection.fitness_difference is None and rejection.verdict is Verdict.LOST


def _why(candidate: CandidateState) -> str:
    if candidate.fault is None or (candidate.program.text and not is_stopped(candidate.fault)):
        return "another program was fitter"
    return in_words(candidate.fault)
