"""What happened in the worst and in the best episode: the story, and what the program itself said there."""

import re
from collections.abc import Sequence

from ..core.call_times import call_time_words
from ..core.figures import REGULAR_ENDS
from ..core.text import excerpt, fenced_text, one_line, plural, printable, text_table
from ..core.values import CandidateState, Episode, EpisodeNotes, Score, Stage
from .episode_table import ranking, report_words

MAX_STORY = 4400  # characters of a story
MAX_COURSE = 3000  # of one of the two in a crossover
MAX_STAGES = 12
MAX_REPORT = 600  # characters of a program's report
MAX_PRINTED = 900  # characters of what a program printed: whole lines, the last ones
MAX_STRAYS = 4  # fresh episodes with a line
EQUAL = 1e-4  # f_e that differ by less are equal
ALIKE = 0.005  # and that tell nothing apart
NOTABLE = 0.02  # of f_e: what tells a fresh episode from those of the search
LEAST_ROWS = 8  # of the steps one by one, before the rest of a story gets shorter
_STEPS = re.compile(r"(last )?steps?( at changes, and the last)? {2,}")  # how the head of a table of steps begins
SAID = "What the program said of {} (its own words, not measured):"


def stories(candidate: CandidateState, most: int = 2) -> str:
    """The notes of the worst and of the best episode, or of the longest where all are equal; "" if they have none.

    A fresh episode that went worse than all of the search takes the place of the best one. With 1 as `most` the second
    one is left out.
    """
    chosen = _choice(candidate.episodes, candidate.scores)
    strays = _strays(candidate)
    if strays:
        chosen = [*chosen[:1], ("worst fresh", *strays[0])]
    sections = []
    for word, episode, score in chosen[:most]:
        parts = _parts(episode.notes)
        if parts:
            sections += [f"The {word} episode, number {episode.index} (f_e = {score.fitness:.4f}):", *parts]
    return "\n\n".join(sections)


Shown = tuple[str, Episode, Score]
"""An episode that is described, with what it is."""


def _choice(episodes: Sequence[Episode], scores: Sequence[Score]) -> list[Shown]:
    """The episodes of the search that are described."""
    ranked = ranking(scores)
    if not ranked:
        return []
    worst, best = ranked[0], ranked[-1]
    if len(ranked) == 1:
        found = {worst: "only"}
    elif scores[best].fitness - scores[worst].fitness < EQUAL:
        found = {max(ranked, key=lambda place: (episodes[place].steps, -place)): "longest (f_e is the same in all)"}
    elif scores[best].fitness - scores[worst].fitness < ALIKE:
        found = {worst: "worst (f_e hardly differs)"}    # a second one shows the same once more
    else:
        found = {worst: "worst", best: "best"}
    return [(word, episodes[place], scores[place]) for place, word in found.items()]


def _strays(candidate: CandidateState) -> list[tuple[Episode, Score]]:
    """The fresh episodes that went notably worse than all of the search, or ended as none of these did; worst first."""
    if candidate.fresh is None or not candidate.scores:
        return []
    least = min(score.fitness for score in candidate.scores)
    known = {episode.ended_by for episode in candidate.episodes} | REGULAR_ENDS
    found = [
        (episode, score) for episode, score in zip(candidate.fresh.episodes, candidate.fresh.scores, strict=True)
        if score.fitness < least - NOTABLE or episode.ended_by not in known
    ]
    return sorted(found, key=lambda pair: (pair[1].fitness, pair[0].index))


def fresh_table(candidate: CandidateState) -> str:
    """The fresh episodes that went unlike those of the search, a line each; "" for none."""
    strays = _strays(candidate)
    if not strays or candidate.fresh is None:
        return ""
    rows = [("fresh episode", "f_e", "ended")] + [
        (str(episode.index), f"{score.fitness:.4f}", _ending(episode)) for episode, score in strays[:MAX_STRAYS]
    ]
    count = f"{len(strays)} of the {plural(len(candidate.fresh.scores), 'fresh episode')}"
    return f"Fresh episodes that went worse than those above: {count}.\n\n{fenced_text(text_table(rows))}"


def _ending(episode: Episode) -> str:
    if episode.ended_by in REGULAR_ENDS:
        return "regularly"
    return f"{one_line(episode.ended_by, 24)} after {plural(episode.steps, 'step')}"


def said_of_worst(candidate: CandidateState) -> str:
    """What a program itself said of its worst episode; "" for nothing."""
    episodes, ranked = candidate.episodes, ranking(candidate.scores)
    said = _said(episodes[ranked[0]].notes) if ranked and len(ranked) == len(episodes) else ""
    return f"{SAID.format(f'episode {episodes[ranked[0]].index}, its worst')}\n\n{fenced_text(said)}" if said else ""


def course_of(one: CandidateState, other: CandidateState, name: str) -> str:
    """The story of the episode in which the other program, of this name, did better by most, else of the worst one.

    "" where it has none, or where the programs were not rolled out on the same episodes.
    """
    pairs = [(mine.fitness, its.fitness - mine.fitness) for mine, its in zip(one.scores, other.scores, strict=False)]
    if not pairs or len(one.scores) != len(one.episodes):
        return ""
    place = min(range(len(pairs)), key=lambda each: (-pairs[each][1], pairs[each][0], each))
    episode, (fitness, gain) = one.episodes[place], pairs[place]
    if not episode.notes.story:
        return ""
    better = f", in which {name} has {fitness + gain:.4f}" if gain >= NOTABLE else ""
    story = fenced_text(story_within(episode.notes.story, MAX_COURSE))
    return f"The course of episode {episode.index} (f_e = {fitness:.4f}){better}:\n\n{story}"


def story_within(story: str, limit: int) -> str:
    """A story in `limit` characters, by whole lines, so that no table loses its head or the beginning of a row.

    The last rows of its last table go first, down to 8, then lines in the middle of what stands before it.
    """
    lines = printable(story).splitlines()
    heads = [place for place, line in enumerate(lines) if _STEPS.match(line)]
    start = heads[-1] if heads and heads[-1] else len(lines)
    before, table = lines[:start], lines[start:]
    shown, rows = len(before), len(table)

    def text() -> str:
        first, gone, left = (shown + 1) // 2, len(before) - shown, len(table) - rows
        return "\n".join([
            *before[:first], *([f"… {plural(gone, 'line')} left out …"] if gone else []), *before[first + gone :],
            *table[:rows], *([f"… {plural(left, 'row')} left out"] if left else []),
        ])

    while len(text()) > limit and (shown > 2 or rows > 2):
        if rows > 1 + LEAST_ROWS or shown <= 2:
            rows -= 1
        else:
            shown -= 1
    return excerpt(text(), limit)


def said_of_best(episodes: Sequence[Episode], scores: Sequence[Score]) -> str:
    """What a program printed in its best episode, the earliest of equal ones; "" for nothing, or for one episode."""
    if len(scores) != len(episodes) or len(scores) < 2:
        return ""
    best = max(range(len(scores)), key=lambda place: (scores[place].fitness, -place))
    printed = episodes[best].notes.printed.strip("\n")
    title = f"What it printed in its best episode, number {episodes[best].index} (f_e = {scores[best].fitness:.4f}):"
    return f"{title}\n\n{fenced_text(_last_lines(printed)[1])}" if printed.strip() else ""


def _parts(notes: EpisodeNotes) -> list[str]:
    parts = [fenced_text(story_within(notes.story, MAX_STORY))] if notes.story else []
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
        lines.append(f"report: {report_words(notes.report, MAX_REPORT)}")
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
