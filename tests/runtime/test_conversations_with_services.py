"""A whole conversation in the tool protocol of each service, whole and streamed, with hostile drafts in a real pool."""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from memento.agents.proposers import HillClimber
from memento.agents.rollout_agents import Examiner, Roller, Scorer
from memento.agents.tools import Computer, Looker, Practiser
from memento.core.events import (
    CandidateScored,
    Compute,
    Examine,
    Fact,
    LookCloser,
    ProposalMade,
    Propose,
    Roll,
    ScoreEpisode,
    ToolAnswered,
    TryProgram,
    TurnTaken,
)
from memento.core.faults import FaultKind
from memento.core.seeds import derive_seed
from memento.core.values import Brief, Contract, Program
from memento.models import close_model
from memento.runtime.bus import EventBus
from memento.runtime.prompts import PromptFolder
from memento.runtime.rollouts.limits import Limits
from memento.runtime.rollouts.pool import ProcessPool
from memento.runtime.supervisor import Lane, Supervisor
from memento.search.conversing import ConversationTerms, Conversing
from memento.search.keepers import KEEPERS
from memento.search.options import GenerationBudget
from memento.search.rollout_plan import RolloutPlan
from memento.search.sequencer import RunPlan, Sequencer

from ..models.asking import DIALECT, KEY, client
from ..support import ON_PATH
from ..support.hostile import policy
from ..support.nightly import first_and_nightly
from ..support.services import Act, serving

SEEDS = {word: derive_seed(5, word, 0) for word in ("search", "final", "practice")}
LIMITS = Limits(start_cpu_s=1.5, step_cpu_s=0.3, episode_cpu_s=5, step_wall_s=1.5, evaluator_cpu_s=1.0)
POLICY = Contract(class_name="Policy", methods=(("reset", 0), ("compute_action", 1)))
EVALUATOR = Contract(class_name="Evaluator", methods=(("evaluate", 1),))
BRIEF = Brief(task="Reach 1.", policy_interface="A class Policy.", evaluator_interface="A class Evaluator.")
REACHED = Program(
    "class Evaluator:\n    def evaluate(self, arrays):\n        return min(1.0, float(arrays['x'][-1][0])), {}\n"
)
SLOW, FAST = policy("return [0.02, 0, 0]"), policy("return [0.2, 0, 0]")
HANGS = policy("print('before it hangs')\nwhile True: pass")
FORKS = policy("print('before it forks')\nos.fork()\nreturn [0, 0, 0]")
GREEDY = policy("return np.ones(10 * 2**30 // 8)")
CURIOUS = policy(
    "frame, found = sys._getframe(), []\nwhile frame is not None:\n    found.append(repr(frame.f_locals))\n"
    "    frame = frame.f_back\nprint('found', ' '.join(found)[-700:], dict(os.environ), sys.argv)\n"
    "try:\n    open('/proc/self/environ').read()\nexcept OSError as error:\n    print(type(error).__name__)\n"
    "return [0, 0, 0]"
)

WALKS = (       # through the frames of its callers, for arrays that it did not get; the smiley is outside the BMP
    "import sys\nprint(len(arrays['x']), sorted(arrays), '\U0001f642')\nframe = sys._getframe()\n"
    "while frame is not None:\n"
    "    held = [each for each in frame.f_locals.values() if isinstance(each, dict)]\n"
    "    print(*(sorted(map(str, each)) for each in held if 'x' in each))\n"
    "    frame = frame.f_back\n"
)


def call(tool: str, /, **arguments: object) -> tuple[str, str]:
    return tool, json.dumps(arguments)


def tries(program: Program) -> Act:
    return Act(text="I try.", calls=(call("try_program", program=f"# whole program\n{program.text}", episode=0),))


ACTS = (
    *map(tries, (HANGS, FORKS, GREEDY, CURIOUS)),
    Act(calls=(call("try_program", episode="two"),)),
    Act(calls=(call("fly", to="the moon"),)),
    Act(text="Closer.", calls=(call("look_closer", recording="draft 4", **{"from": -2}, fields="x[0]"),)),
    Act(calls=(call("compute", recording="parent 0", code=WALKS),)),
    tries(FAST),
    Act(calls=(call("submit", draft=5, summary="ten times as fast"),)),
)


class Log:
    """A store in memory."""

    def __init__(self) -> None:
        self.kept: list[Fact] = []

    def append(self, facts: Iterable[Fact]) -> None:
        self.kept.extend(facts)

    def of(self, kind: type) -> list:
        return [fact for fact in self.kept if isinstance(fact, kind)]


async def converse(model: object, folder: Path) -> Log:
    """One climb from SLOW, in one conversation."""
    plan = RunPlan(
        method=KEEPERS["memento"], slots=GenerationBudget(generations=1, hill_climb=1, macro=0, crossover=0),
        search=RolloutPlan(split="search", seeds=(SEEDS["search"],), evaluator=REACHED, racing=True),
        final_seeds=(SEEDS["final"],), initial=SLOW,
    )
    terms = ConversationTerms(turns=len(ACTS) - 1, practice_episodes=5, seeds=(SEEDS["practice"],))
    climber = HillClimber(model=model, prompts=PromptFolder(), brief=BRIEF, contract=POLICY, limits="none.")
    log, splits = Log(), {name: {"horizon": 20} for name in ("search", "final")}
    async with ProcessPool(
        domain="toy_domain:DOMAIN", splits=splits, workers=1, limits=LIMITS, trajectories=folder,
    ) as pool:
        roller = Roller(pool=pool)
        agents = {
            Propose: climber, Roll: roller, ScoreEpisode: Scorer(pool=pool), Examine: Examiner(pool=pool),
            TryProgram: Practiser(roller=roller, pool=pool), LookCloser: Looker(trajectories=folder),
            Compute: Computer(pool=pool, contract=EVALUATOR, trajectories=folder),
        }
        lane = Lane(name="all", limit=2, agents=agents)
        keeper = Conversing(Sequencer(plan), terms)
        assert await Supervisor(keeper=keeper, bus=EventBus(log), lanes=[lane]).run() == "done"
    return log


FORMS = [f"{kind} {how}" for kind in ("openai", "openai-chat", "anthropic") for how in ("streamed", "whole")]


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("form", first_and_nightly(*FORMS))
async def test_a_conversation_with_hostile_drafts(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, stream = form.split()[0], form.endswith("streamed")
    monkeypatch.setenv("PYTHONPATH", str(ON_PATH), prepend=os.pathsep)
    async with serving(*ACTS, dialect=DIALECT[kind]) as service:
        model = client(kind, service.url, stream=stream)
        log = await converse(model, tmp_path / "trajectories")
        await close_model(model)
    assert len(log.of(TurnTaken)) == len(ACTS) - 1 == len(service.asked) - 1
    check_answers(log.of(ToolAnswered))
    [made] = log.of(ProposalMade)
    assert (made.program, made.summary, made.practised) == (FAST, "ten times as fast", 5)
    climbed = log.of(CandidateScored)[-1].candidate
    assert climbed.program == FAST and climbed.fitness == 1.0
    check_what_was_sent(service.asked)


def check_answers(answers: Sequence[ToolAnswered]) -> None:
    """What became of each call; the bad ones need no order."""
    hung, forked, greedy, curious, looked, computed, fast = answers
    faults = [fact.episode.fault for fact in (hung, forked, greedy)]
    assert [fault.kind for fault in faults] == [FaultKind.TIMED_OUT, FaultKind.CRASHED, FaultKind.CRASHED]
    assert "before it hangs" in hung.answer.text and hung.cpu_s > 0.2
    assert "before it forks" in forked.answer.text and "PermissionError" in forked.answer.text
    assert "MemoryError" in greedy.answer.text
    assert curious.episode.fault is None and "PermissionError" in curious.answer.text
    assert "found" in curious.episode.notes.printed
    assert "steps 18 to 20 of 20, 3 rows" in looked.answer.text
    assert computed.answer.text.startswith("21 [") and "success" not in computed.answer.text
    assert "\U0001f642" in computed.answer.text and computed.answer.text.count("'x'") > 1, "its callers have x as well"
    assert fast.score.fitness == 1.0 and fast.episode.seed == SEEDS["practice"]


def check_what_was_sent(asked: Sequence[dict]) -> None:
    """Neither a key nor a seed is in what the service got, and the last turn states what is left."""
    sent = json.dumps(asked)
    assert not [secret for secret in (KEY, *map(str, SEEDS.values())) if secret in sent]
    assert "unknown tool 'fly'" in sent and "holds no number" in sent
    last = json.dumps(asked[-1])
    assert "No tool call is left." in last and "draft 5 is submitted as it is: the best in practice so far" in last
