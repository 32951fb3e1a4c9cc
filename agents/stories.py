"""What happened in the worst and in the best episode: the story, and what the program itself said there."""

from collections.abc import Sequence

from ..core.call_times import call_time_words
from ..core.text import excerpt, fenced_text, one_line, plural
from ..core.values import Episode, EpisodeNotes, Score, Stage
from .episode_table import ranking, value_text

MAX_STORY = 4400  # characters of a story
MAX_STAGES = 12
MAX_REPORT = 600  # characters of a program's report
MAX_PRINTED = 900  # characters of what a program printed: whole lines, the last ones
EQUAL = 1e-4  # f_e that differ by less are equal
SAID = "What the program said of {} (its own words, not measured):"


def stories(episodes: Sequence[Episode], scores: Sequence[Score], most: int = 2) -> str:
    """The notes of the worst and of the best episode, or of the longest where all are equal; "" if they have none.

    With 1 as `most` the second one is left out.

    `scores` belong to the episodes in their order.
    """
    sections = []
    for place, word in list(_choice(episodes, scores).items())[:most]:
        parts = _parts(episodes[place].notes)
        if parts:
            title = f"The {word} episode, number {episodes[place].index} (f_e = {scores[place].fitness:.4f}):"
            sections += [title, *parts]
    return "\n\n".join(sections)


def _choice(episodes: Sequence[Episode], scores: Sequence[Score]) -> dict[int, str]:
    """The places of the episodes that are described, with what they are."""
    ranked = ranking(scores)
    if not ranked:
        return {}
    worst, best = ranked[0], ranked[-1]
    if len(ranked) == 1:
        return {worst: "only"}
    if scores[best].fitness - scores[worst].fitness < EQUAL:
        longest = max(ranked, key=lambda place: (episodes[place].steps, -place))
        return {longest: "longest (f_e is the same in all)"}
    return {worst: "worst", best: "best"}


def said_of_worst(episodes: Sequence[Episode], scores: Sequence[Score]) -> str:
    """What a program itself said of its worst episode; "" for nothing. `scores` belong to the episodes in order."""
    ranked = ranking(scores)
    said = _said(episodes[ranked[0]].notes) if ranked and len(scores) == len(episodes) else ""
    return f"{SAID.format(f'episode {episodes[ranked[0]].index}, its worst')}\n\n{fenced_text(said)}" if said else ""


def said_of_best(episodes: Sequence[Episode], scores: Sequence[Score]) -> str:
    """What a program printed in its best episode, the earliest of equal ones; "" for nothing, or for one episode."""
    if len(scores) != len(episodes) or len(scores) < 2:
        return ""
    best = max(range(len(scores)), key=lambda place: (scores[place].fitness, -place))
    printed = episodes[best].notes.printed.strip("\n")
    title = f"What it printed in its best episode, number {episodes[best].index} (f_e = {scores[best].fitness:.4f}):"
    return f"{title}\n\n{fenced_text(_last_lines(printed)[1])}" if printed.strip() else ""


def _parts(notes: EpisodeNotes) -> list[str]:
    parts = [fenced_text(excerpt(notes.story, MAX_STORY))] if notes.story else []
    said = _said(notes)
    if said:
        parts += [SAID.format("it"), fenced_text(said)]
    if notes.times is not None:
        parts.append(f"{call_time_words(notes.times)}.")
    return parts


def _said(notes: EpisodeNotes) -> str:
    """The stages that the program named, its report, and the end of what it printed."""
    lines = []
    if notes.stages:
        lines.append(f"stages: {_stages(notes.stages)}")
    if notes.report:
        pairs = "; ".join(f"{one_line(name, 80)} {value_text(value)}" for name, value in notes.report.items())
        lines.append(f"report: {one_line(pairs, MAX_REPORT)}")
    lines += [one_line(problem, 200) for problem in notes.problems]
    if notes.printed.strip():
        count, shown = _last_lines(notes.printed.strip("\n"))
        lines += [f"printed, its last {plural(count, 'line')}:", shown]
    return "\n".join(lines)


def _last_lines(printed: str) -> tuple[int, str]:
    """The last whole lines of a text that fit, with their number; at least one, which may be cut."""
    lines = printed.removeprefix("…\n").splitlines()
    kept: list[str] = []
    room = MAX_PRINTED
    for line in reversed(lines):
        if kept and len(line) > room:
            break
        kept.insert(0, excerpt(line, MAX_PRINTED))
        room -= len(line) + 1
    return len(kept), "\n".join(kept)


def _stages(stages: Sequence[Stage]) -> str:
    """Each stage with its first step, its steps, and how often it was entered."""
    words = []
    for stage in stages[:MAX_STAGES]:
        times = f", entered {stage.entries} times" if stage.entries > 1 else ""
        words.append(f"{one_line(stage.name, 40)} from step {stage.first_step} ({stage.steps} steps{times})")
    if len(stages) > MAX_STAGES:
        words.append(f"{len(stages) - MAX_STAGES} more")
    return ", ".join(words)
