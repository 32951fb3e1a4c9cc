"""The focus of a proposal depends on seed and place alone, and differs in every slot of a branch and generation."""

import re
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memento.agents.evaluator_evolver import EvaluatorEvolver
from memento.agents.foci import CROSSOVERS, check_foci, crossing_of, focus_of, holds_of, losses_of, remedies, suitable
from memento.agents.stories import stories
from memento.core.errors import UsageError
from memento.core.metrics import aggregate
from memento.core.values import CandidateState, Focus, FreshRecord, Score, TaskKind
from memento.runtime.prompts import PromptFolder

from ..support.prompt_samples import BRIEF, CRASH, EVALUATOR_CONTRACT, Scripted, candidate, episode, propose_evaluator

KINDS = remedies(PromptFolder())
WAYS = remedies(PromptFolder(), CROSSOVERS)
TASKS: tuple[TaskKind, ...] = get_args(TaskKind)


@given(st.integers(0, 2**63), st.integers(1, 40), st.sampled_from(TASKS))
def test_all_foci_of_a_generation_differ(seed: int, of: int, task: TaskKind) -> None:
    parent = candidate()
    foci = [focus_of(Focus(seed=seed, place=place, of=of), parent, KINDS, task) for place in range(of)]
    assert len({tuple(focus.items()) for focus in foci}) == of
    assert len({focus["remedy"] for focus in foci}) == min(of, len(suitable(KINDS, task, holds_of(parent))))
    assert foci[0] == focus_of(Focus(seed=seed, place=0, of=of), parent, KINDS, task)


def test_losses_are_missed_stages_and_the_worst_episode() -> None:
    assert losses_of(candidate()) == [
        "2 of 4 episodes ended early (1 fault, 1 off the track); F may gain at most 0.450",
        "reached: true in 33 % of the episodes; F may gain at most 0.600",
        "episode 3: f_e = 0.0000, the lowest; F may gain at most 0.250",
    ]
    nothing = focus_of(Focus(seed=1, place=0, of=1), candidate(fault=CRASH), KINDS)
    assert "none is measured" in nothing["loss"]


def test_a_flag_whose_lack_costs_nothing_is_no_loss() -> None:
    flags = (("done", False, False), ("illegal", True, False), ("placed", False, True), ("late", False, False))
    scores = (
        Score(fitness=0.2, metrics={name: worse for name, worse, _ in flags}),
        Score(fitness=0.98, metrics={name: better for name, _, better in flags}),
    )
    parent = replace(candidate(), scores=scores, episodes=candidate().episodes[:2], metrics=aggregate(scores))
    assert [loss for loss in losses_of(parent) if "true in" in loss] == [
        "placed: true in 50 % of the episodes; F may gain at most 0.400",
    ]
    poor = tuple(replace(score, fitness=score.fitness / 2) for score in scores)
    assert any("done: true in 0 %" in loss for loss in losses_of(replace(parent, scores=poor)))


def test_crossovers_of_one_pair_get_different_ways_and_the_episodes_of_each_parent() -> None:
    first, second = candidate(), candidate()
    second = replace(second, scores=(first.scores[1], first.scores[0], *first.scores[2:]))
    foci = [crossing_of(Focus(seed=1, place=place, of=2), first, second, WAYS) for place in range(2)]
    assert foci[0]["way"] != foci[1]["way"]
    assert foci[0]["gains"].splitlines()[1:-1] == [
        "parent A is better in episode 0 (by 0.6000)", "parent B is better in episode 1 (by 0.6000)",
        "about equal (f_e differs by at most 0.001) in 2 episodes",
    ]
    near = replace(first, scores=tuple(replace(each, fitness=each.fitness + 0.0009) for each in first.scores))
    assert crossing_of(Focus(seed=1, place=0, of=2), first, near, WAYS)["gains"].splitlines()[1:-1] == [
        "parent A is better in no episode", "parent B is better in no episode",
        "about equal (f_e differs by at most 0.001) in all episodes",
    ]


def test_a_parent_that_is_better_in_no_episode_gets_no_way_that_builds_on_those_episodes() -> None:
    first = candidate()
    worse = replace(first, scores=tuple(replace(score, fitness=score.fitness / 2) for score in first.scores))
    assert any("each better" in way for way in WAYS)
    for place in range(6):
        focus = crossing_of(Focus(seed=1, place=place, of=6), first, worse, WAYS)
        assert not any(focus["way"] in way for way in WAYS if "each better" in way)
        assert "less fit parent is the backbone" not in focus["way"]
        assert "parent B is better in no episode" in focus["gains"]


@given(st.integers(0, 2**63), st.sampled_from(TASKS))
def test_equally_fit_parents_get_no_way_that_speaks_of_the_fitter_one(seed: int, task: TaskKind) -> None:
    first = candidate()
    scores = (first.scores[1], first.scores[0], *first.scores[2:])
    for second in (first, replace(first, scores=scores)):
        for place in range(6):
            focus = crossing_of(Focus(seed=seed, place=place, of=6), first, second, WAYS, task)
            assert "fitter" not in focus["way"] and "less fit" not in focus["way"] and "[" not in focus["way"]


def test_the_only_crossover_of_each_generation_draws_its_way() -> None:
    first = candidate()
    worse = replace(first, fitness=0.1)
    drawn = [crossing_of(Focus(seed=seed, place=0, of=1), first, worse, WAYS) for seed in range(40)]
    assert {each["way"] for each in drawn} == set(suitable(WAYS, "arm", ["F differs"]))


def test_foci_fit_the_kind_of_task() -> None:
    for task in TASKS:
        ways = suitable(WAYS, task, ["each better somewhere", "F differs"])
        fit = " ".join(suitable(KINDS, task, holds_of(candidate())) + ways)
        assert "[for " not in fit and "[episodes" not in fit
        assert ("Rhythm" in fit, "Approach and contact" in fit) == (task == "gait", task == "arm")


def test_the_only_proposal_of_a_generation_hears_of_no_others() -> None:
    prompts, first = PromptFolder(), candidate()
    for of, said in ((1, False), (2, True)):
        focus = Focus(seed=1, place=0, of=of)
        for text in (
            prompts.fill("macro-focus", **focus_of(focus, first, KINDS)),
            prompts.fill("crossover-focus", **crossing_of(focus, first, first, WAYS)),
        ):
            assert ("Each has another focus" in text) == (f"1 of {of}" in text) == said


ENDS = st.lists(st.tuples(st.floats(0, 1), st.sampled_from(["horizon", "fell"])), min_size=1, max_size=6)


def ending(of: list[tuple[float, str]]) -> CandidateState:
    """A program whose episodes had these f_e and endings."""
    return replace(
        candidate(), metrics={}, fitness=sum(f for f, _ in of) / len(of),
        episodes=tuple(episode(place, ended_by=word) for place, (_, word) in enumerate(of)),
        scores=tuple(Score(fitness=f) for f, _ in of),
    )


@given(st.integers(0, 2**63), ENDS)
def test_effort_is_no_focus_while_most_episodes_end_early_and_balance_none_while_none_does(
    seed: int, of: list[tuple[float, str]]
) -> None:
    parent = ending(of)
    early = sum(word == "fell" for _, word in of)
    given = [focus_of(Focus(seed=seed, place=place, of=20), parent, KINDS, "gait")["remedy"] for place in range(20)]
    assert any(remedy.startswith("Effort") for remedy in given) == (2 * early <= len(of))
    assert any(remedy.startswith("Balance") for remedy in given) == bool(early)


def test_where_early_ends_cost_fitness_they_come_first_with_fresh_ones_counted() -> None:
    fallen = ending([(0.2, "fell"), (0.7, "horizon")])
    fresh = FreshRecord(episodes=(episode(7, ended_by="fell"),), scores=(Score(fitness=0.3),))
    for seed in range(9):
        focus = focus_of(Focus(seed=seed, place=0, of=2), replace(fallen, fresh=fresh), KINDS, "gait")
        assert focus["remedy"].startswith("Balance")
        assert "2 of 3 episodes ended early (fell); F may gain at most 0.500" in focus["loss"]
    better = ending([(0.9, "fell"), (0.7, "horizon")])
    assert "ended early" not in " ".join(losses_of(better)), "an early end that costs nothing is no loss"


@given(ENDS)
def test_no_loss_may_gain_more_than_all_that_is_lost(of: list[tuple[float, str]]) -> None:
    parent = ending(of)
    for loss in losses_of(parent):
        assert 0 <= float(loss.rpartition("at most ")[2]) <= 1 - parent.fitness + 0.0005
    best = max(f for f, _ in of)
    for loss in losses_of(parent, has_top=False):
        gain = re.search(r"F gains (\S+) if (?:it|they) went as the best known episode \(f_e = (\S+)\)", loss)
        assert "at most" not in loss and (gain is None or float(gain[1]) <= best - parent.fitness + 0.0005)
        assert gain is None or gain[2] == f"{best:.4f}"


def test_without_a_top_of_f_e_no_focus_states_a_bound() -> None:
    fallen = ending([(0.24, "fell"), (0.24, "fell"), (0.512, "fell")])
    focus = focus_of(Focus(seed=1, place=0, of=2), fallen, KINDS, "gait", has_top=False)
    assert "3 of 3 episodes ended early (fell); F gains 0.181 if they went as the best known episode" in focus["loss"]
    flat = replace(candidate(), metrics={}, scores=(Score(fitness=0.768),) * 3)
    assert "at most" not in focus_of(Focus(seed=1, place=0, of=1), flat, KINDS, has_top=False)["loss"]


@given(ENDS, st.booleans())
def test_an_episode_that_a_loss_names_is_described(of: list[tuple[float, str]], has_top: bool) -> None:
    parent = ending(of)
    told = [replace(each, notes=replace(each.notes, story=f"story {each.index}")) for each in parent.episodes]
    shown = stories(replace(parent, episodes=tuple(told)))
    for loss in losses_of(parent, has_top=has_top):
        for number in re.findall(r"^episode (\d+)", loss):
            assert f"story {number}" in shown


def test_episodes_that_are_as_low_as_the_worst_one_are_one_loss() -> None:
    stuck = ending([(0.4982, "horizon"), (0.4981, "horizon"), (0.4982, "horizon"), (0.9907, "success")])
    assert losses_of(stuck) == [
        "episode 1: f_e = 0.4981, the lowest; 2 more are as low, to within 0.02; F may gain at most 0.376",
    ]


def test_no_two_remedies_of_a_walk_end_phases_by_measured_speed() -> None:
    for task in TASKS:
        fit = suitable(KINDS, task, holds_of(candidate()))
        assert sum(remedy.startswith(("Rhythm", "Feedback")) for remedy in fit) == 1


def test_noise_is_no_loss_to_look_at() -> None:
    flat = replace(candidate(), metrics={}, scores=tuple(Score(fitness=f) for f in (0.7683, 0.7685, 0.7687)))
    assert losses_of(flat) == []
    focus = focus_of(Focus(seed=1, place=0, of=1), flat, KINDS)
    assert "No episode stands out: f_e is from 0.7683 to 0.7687 in 3 episodes" in focus["loss"]
    perfect = replace(flat, scores=(Score(fitness=1.0),) * 3)
    assert "No episode loses anything" in focus_of(Focus(seed=1, place=0, of=1), perfect, KINDS)["loss"]


def test_a_remedy_for_some_episodes_needs_episodes_that_differ() -> None:
    alike = replace(candidate(), scores=tuple(Score(fitness=f) for f in (0.7683, 0.7685, 0.7687)))
    for parent, named in ((candidate(), True), (alike, False)):
        of = len(suitable(KINDS, "arm", holds_of(candidate())))
        given = [focus_of(Focus(seed=1, place=place, of=of), parent, KINDS)["remedy"] for place in range(of)]
        assert any("in some episodes only" in remedy for remedy in given) == named


def test_a_list_of_foci_without_an_entry_is_refused(tmp_path: Path) -> None:
    (tmp_path / "macro-foci.md").write_text("---\npurpose: A test.\nvariables:\n---\nNo list.\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"macro-foci\.md lists no focus"):
        remedies(PromptFolder(tmp_path))
    gait = (tmp_path / "macro-foci.md").read_text(encoding="utf-8").replace("No list.", "- [for gait] Run.")
    with pytest.raises(UsageError, match=r"macro-foci\.md lists no focus that fits every 'arm' task"):
        check_foci(PromptFolder(replaced={"macro-foci": gait}))


async def test_evaluator_writers_of_a_generation_get_different_emphases() -> None:
    async def prompts_of(seed: int | None) -> list[str]:
        model = Scripted(lambda ask: "no program")
        evolver = EvaluatorEvolver(
            model=model, prompts=PromptFolder(), brief=BRIEF, contract=EVALUATOR_CONTRACT, emphasis_seed=seed,
        )
        for slot in range(4):
            await evolver.carry_out(replace(propose_evaluator(None), slot=slot))
        return [ask.prompt for ask in model.asked]

    first = await prompts_of(7)
    assert len(set(first)) == 4 and first == await prompts_of(7) != await prompts_of(8)
    assert len(set(await prompts_of(None))) == 1
    assert all("## Your emphasis" in prompt for prompt in first)
