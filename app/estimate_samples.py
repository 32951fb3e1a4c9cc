"""Made-up programs, scores and orders of a stated size, to fill the real prompts for an estimate. Nothing is run."""

from dataclasses import dataclass

from ..agents.critic_sheets import FRAMES, PreparedSheet
from ..agents.turn_prompts import MAX_ANSWER
from ..core.critique import Critique, Sheet, SheetFrame
from ..core.events import Criticise, Judge, Propose, ProposeEvaluator
from ..core.metrics import aggregate
from ..core.operators import OPERATORS
from ..core.programs.program_text import digest
from ..core.turns import Conversation, Turn
from ..core.values import (
    JSON,
    CandidateState,
    Episode,
    EpisodeNotes,
    EvaluatorCandidate,
    Examination,
    Operator,
    Probe,
    Program,
    Rejection,
    Score,
)

LINE = "        self.a_typical_name = self.another_name + 0.125\n"
SHEET = Sheet(
    frames=tuple(
        SheetFrame(row=100 * place, caption="a phase of the task, and what is held") for place in range(FRAMES)
    ),
    digest="0" * 64, file="sample.jpg", focus="step 400: the last event that the evaluator saw",
)
STORY_LINE = "step  123  a line of the story, with a phase, what is held and the nearest thing\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumed:
    """The sizes that decide what a run costs and that no setting says."""

    policy_characters: int
    evaluator_characters: int
    shared_code: bool               # whether the evaluators of a pool have most of their code in common
    probes: int                     # recordings besides T_0 that evaluators are tried on, if the run has probes
    metrics: int                    # values that an evaluator returns for an episode
    story_characters: int           # of what an episode's notes show
    rejections: int                 # rejected edits that a climb's prompt lists
    prose_characters: int           # of a reply, besides its program
    patch_share: float              # of the program that a patch repeats
    thinking_tokens: int            # of a call, before the reply
    characters_per_token: float
    repaired_share: float           # of the calls whose reply cannot be used and is asked for again
    withdrawn_share: float          # of the speculative calls that are withdrawn; the service may charge them
    picture_tokens: int             # of a critic's sheet
    critique_characters: int
    cached: bool                    # whether repeated beginnings come from the service's cache


LOW = Assumed(
    policy_characters=8_000, evaluator_characters=5_000, shared_code=True, probes=8, metrics=15,
    story_characters=600, rejections=2,
    prose_characters=800, patch_share=1 / 20, thinking_tokens=0, characters_per_token=4.0, repaired_share=0.0,
    withdrawn_share=0.0, picture_tokens=800, critique_characters=300, cached=True,
)
HIGH = Assumed(
    policy_characters=30_000, evaluator_characters=14_000, shared_code=False, probes=20, metrics=40,
    story_characters=1_700, rejections=10,
    prose_characters=4_000, patch_share=1 / 8, thinking_tokens=8_000, characters_per_token=3.0, repaired_share=0.25,
    withdrawn_share=0.5, picture_tokens=1_700, critique_characters=900, cached=False,
)


class Samples:
    """Orders whose prompts have the sizes of a run with `n_roll` episodes and pools of `pool` evaluators."""

    def __init__(self, assumed: Assumed, *, n_roll: int, pool: int, probes: bool) -> None:
        self._assumed = assumed
        self._pool = pool
        story = (STORY_LINE * (assumed.story_characters // len(STORY_LINE) + 1))[: assumed.story_characters]
        notes = EpisodeNotes(story=story)
        self._episodes = tuple(
            Episode(index=index, seed=index, steps=1000 + index, ended_by="horizon", success=False, notes=notes)
            for index in range(n_roll)
        )
        self._scores = tuple(self._score(index) for index in range(n_roll))
        self._probes = tuple(
            Probe(name=f"the first {index} moves done and kept", episode=self._episodes[0])
            for index in range(assumed.probes if probes else 0)
        )

    def conversation(self, turns: int) -> Conversation:
        """The conversation of a proposal with this many turns: at its start if `assumed` is cached,
        else in its middle."""
        if self._assumed.cached:
            return Conversation(turns_left=turns)
        said = LINE * (self._assumed.policy_characters // len(LINE))
        turn = Turn(said=said, answer=STORY_LINE * (MAX_ANSWER // len(STORY_LINE)))
        return Conversation(turns=(turn,) * (turns // 2), turns_left=turns - turns // 2)

    def propose(self, operator: Operator, *, looked: bool = False) -> Propose:
        """The order for one proposal of this operator; `looked`: a critic has seen its parents' episodes."""
        parents = OPERATORS[operator].parents
        rejection = Rejection(
            summary="a summary of an edit, with the place, the old and new values and the effect that it was to have",
            candidate="g1/hill/0", fitness_difference=-0.01, reason="lower fitness",
        )
        return Propose(
            id="g1/sample/0", operator=operator, generation=1, slot=0,
            parents=tuple(self._candidate(place) for place in range(parents)),
            critiques=tuple(self._critique(f"g0/macro/{place}") for place in range(parents)) if looked else (),
            rejections=(rejection,) * (self._assumed.rejections if operator is Operator.HILL_CLIMB else 0),
        )

    def look(self) -> Criticise:
        """The order for one look of a critic."""
        return Criticise(
            id="g0/macro/0/look0", candidate="g0/macro/0", episode=self._episodes[0], score=self._scores[0]
        )

    async def prepared(self, order: Criticise) -> PreparedSheet:
        """A sheet without a picture: samples are `Sheets`, too."""
        return PreparedSheet(sheet=SHEET)

    def _critique(self, candidate: str) -> Critique:
        words = (STORY_LINE.replace("\n", " ") * 20)[: self._assumed.critique_characters]
        return Critique(candidate=candidate, episode=0, look=f"{candidate}/look0", words=words, sheet=SHEET)

    def propose_evaluator(self, *, revision: bool) -> ProposeEvaluator:
        """The order for an evaluator of the first pool, or for a revision."""
        return ProposeEvaluator(
            id="eval/g0/0", generation=int(revision), slot=0, parent=self._evaluator(0) if revision else None,
            episodes=self._episodes, success_rate=0.0, probes=self._probes,
        )

    def judge(self, *, looked: bool = False) -> Judge:
        """The order for one vote on a whole pool; `looked`: a critic has seen an episode of T_0."""
        pool = tuple(self._evaluator(slot) for slot in range(self._pool))
        return Judge(
            id="eval/g0/judge/0", generation=0, seat=0, pool=pool, success_rate=0.0, episodes=self._episodes,
            probes=self._probes, critiques=(self._critique("init/0"),) if looked else (),
        )

    def _score(self, episode: int) -> Score:
        metrics: dict[str, JSON] = {
            f"a_metric_of_the_task_{n}_m": 0.01 * n + 0.003 * episode for n in range(self._assumed.metrics)
        }
        return Score(fitness=0.3 + 0.001 * episode, metrics=metrics)

    def _candidate(self, place: int) -> CandidateState:
        program = _program("FrankaPolicy", self._assumed.policy_characters, place)
        return CandidateState(
            id=f"g0/macro/{place}", program=program, operator=Operator.MACRO, generation=0, slot=place,
            summary="a summary", fitness=0.3, metrics=aggregate(self._scores), episodes=self._episodes,
            scores=self._scores, shape=digest(program),
        )

    def _evaluator(self, slot: int) -> EvaluatorCandidate:
        return EvaluatorCandidate(
            id=f"eval/g0/{slot}", generation=0, slot=slot,
            program=_program(
                "Evaluator", self._assumed.evaluator_characters, slot, own=not self._assumed.shared_code
            ),
            summary="a summary of what this evaluator measures, in the words of its writer",
            examination=Examination(
                scores=self._scores, probe_scores=tuple(self._score(place) for place in range(len(self._probes)))
            ),
        )


def _program(name: str, characters: int, number: int, *, own: bool = False) -> Program:
    """A program of about this size; different numbers give different programs, all of it different with `own`."""
    line = LINE.replace("typical", f"t{number}") if own else LINE
    head = f"class {name}:\n    NUMBER = {number}\n\n    def method(self):\n"
    return Program(head + line * max(1, (characters - len(head)) // len(line)))
