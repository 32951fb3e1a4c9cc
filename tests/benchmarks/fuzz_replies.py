"""Reads drawn replies the whole way that a run reads them, and shows that none of them raises.

    python -m memento.tests.benchmarks.fuzz_replies [--minutes 60] [--seed 1] [--json]

Each reply is parsed, as a program or as a patch of a parent. Its program is checked, summarised, hashed, printed for
judges and compared with its parents, put into the prompts of the next orders, and kept as a fact. It ends with the
number of replies for each way of drawing and outcome; with exit code 1 where a reply raised or took long, and the seeds
of these. A reply's seed is given as
`--only SEED` to read it alone, with its traceback.
"""

import argparse
import asyncio
import json
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from memento.agents.evaluator_evolver import EvaluatorEvolver
from memento.agents.judging import JudgePanel
from memento.agents.proposers import Crosser, HillClimber
from memento.agents.reply import read_program, within_limit
from memento.agents.writing import Answers
from memento.core.events import Fact, Judge, ProposalFailed, ProposalMade, Propose, ProposeEvaluator
from memento.core.faults import Fault
from memento.core.ports import Ask, Reply
from memento.core.programs.line_diff import diff_lines
from memento.core.programs.program_text import (
    MAX_EVALUATOR,
    MAX_PROGRAM,
    MAX_SUMMARY,
    bare,
    difference,
    digest,
    history,
    parse,
)
from memento.core.values import CandidateState, EvaluatorCandidate, Examination, Operator, Program, Score
from memento.domains import load
from memento.memory.codec import decode, encode, revive
from memento.runtime.prompts import PromptFolder
from memento.runtime.rollouts.limits import policy_limits_in_words

from .hostile_replies import Drawn, draw_reply

SLOW_S = 10.0  # of CPU time for one reply, at most
FRAMES = 200  # below which each reply is read: a run's own stack is less deep
DOMAIN = "hanoi-kinematic"


class Answering:
    """A model that gives its one reply to whatever it is asked."""

    name = "fuzz"
    reply = Reply(text="", model="fuzz")

    async def complete(self, ask: Ask) -> Reply:
        """The reply."""
        return self.reply


class Readers:
    """The agents of a domain, and real programs of it: policies and evaluators."""

    def __init__(self, name: str) -> None:
        """Load a domain that has a shelf."""
        self.domain = load(name)
        shelf, reference = self.domain.shelf(), self.domain.reference_evaluator()
        assert shelf is not None and reference is not None
        self.policies = (shelf.initial,)
        self.evaluators = (reference, *shelf.evaluators)
        self.model = Answering()
        brief, prompts = self.domain.brief(self.domain.options({}, preset="smoke")), PromptFolder()
        limits = policy_limits_in_words()
        policy, evaluator = self.domain.contract, self.domain.evaluator_contract
        answers = Answers(edits="patch", repairs=1)
        self.climber = HillClimber(
            model=self.model, prompts=prompts, brief=brief, contract=policy, limits=limits, answers=answers
        )
        self.crosser = Crosser(model=self.model, prompts=prompts, brief=brief, contract=policy, limits=limits)
        self.evolver = EvaluatorEvolver(
            model=self.model, prompts=prompts, brief=brief, contract=evaluator, answers=answers
        )
        self.judges = JudgePanel(models=[self.model], prompts=prompts, brief=brief, run_seed=1)

    async def read(self, drawn: Drawn, *, evaluator: bool) -> str:
        """The outcome of a reply: "program", or the kind of its fault. Raises what a reader raises."""
        parents = self.evaluators if evaluator else self.policies
        contract = self.domain.evaluator_contract if evaluator else self.domain.contract
        limit = MAX_EVALUATOR if evaluator else MAX_PROGRAM
        self.model.reply = reply = within_limit(Reply(text=drawn.text, model="fuzz", stop=drawn.stop))
        reading = read_program(reply, contract, parents[:1], limit, "patch")
        read_text(reading.program or Program(reply.text), parents[0])
        if reading.program is not None and reading.fault is None and not bare(reading.program):
            raise AssertionError("an accepted program cannot be printed")
        fact = await (self._write_evaluator() if evaluator else self._climb(parents[0]))
        kept(fact)
        if isinstance(fact, ProposalMade):
            await (self._show_evaluator(fact.program) if evaluator else self._show_policy(fact.program))
        elif isinstance(fact, ProposalFailed) and fact.fault.message.startswith("the reply cannot be read"):
            raise AssertionError(fact.fault.message)
        return "program" if reading.fault is None else reading.fault.kind.value

    async def _write_evaluator(self, parent: EvaluatorCandidate | None = None) -> Fact:
        order = ProposeEvaluator(
            id="eval/g1/1", generation=1, slot=1, parent=parent, episodes=(), success_rate=0.0
        )
        return await self.evolver.carry_out(order)

    async def _climb(self, parent: Program) -> Fact:
        parents = (candidate(parent),)
        order = Propose(id="g1/hill/0", operator=Operator.HILL_CLIMB, generation=1, slot=0, parents=parents)
        return await self.climber.carry_out(order)

    async def _show_policy(self, program: Program) -> None:
        """Put a policy into the prompts of the next proposals."""
        await self._climb(program)
        parents = (candidate(program), candidate(self.policies[0]))
        order = Propose(id="g1/cross/0", operator=Operator.CROSSOVER, generation=1, slot=0, parents=parents)
        await self.crosser.carry_out(order)

    async def _show_evaluator(self, program: Program) -> None:
        """Put an evaluator before a writer and a judge."""
        self.model.reply = Reply(text='{"choice": "A", "reason": "x"}', model="fuzz")
        examination = Examination(scores=(Score(fitness=0.5, metrics={"x": 1}),))
        entry = EvaluatorCandidate(
            id="eval/g0/1", generation=0, slot=1, program=program, summary="x", examination=examination
        )
        await self._write_evaluator(entry)
        order = Judge(id="eval/g0/judge/0", generation=0, seat=0, pool=(entry,), success_rate=0.0)
        vote = await self.judges.carry_out(order)
        if vote.choice != 1:
            raise AssertionError(f"the vote is {vote.choice}: {vote.reason}")
        kept(vote)


def candidate(program: Program) -> CandidateState:
    """A policy as the prompt of a next order has it."""
    return CandidateState(id="g1/hill/0", program=program, operator=Operator.HILL_CLIMB, generation=1, slot=0)


def read_text(program: Program, parent: Program) -> None:
    """All that is read of a program's text, accepted or not. Raises AssertionError for an answer of another form."""
    texts = [*history(program), difference(program, [parent]), difference(parent, [program])]
    if any(not text or len(text) > MAX_SUMMARY or not text.isprintable() for text in texts):
        raise AssertionError("a summary is empty, too long or unprintable")
    if len(digest(program)) != 64:
        raise AssertionError("a digest has another length")
    printed = bare(program)
    if printed and isinstance(parse(Program(printed), limit=len(printed)), Fault):
        raise AssertionError("what was printed cannot be read")
    diff_lines(parent.text, program.text)


def kept(fact: Fact) -> None:
    """Keep a fact as the log does. Raises AssertionError where it comes back as another one."""
    encoded = encode(fact)
    values = {reference: revive(reference, blob.content) for reference, blob in encoded.blobs.items()}
    if decode(encoded.kind, encoded.order, encoded.body, values) != fact:
        raise AssertionError("the fact comes back from the log as another one")


def below(frames: int, readers: Readers, drawn: Drawn, *, evaluator: bool) -> str:
    """Read a reply with this many more frames on the stack."""
    if frames:
        return below(frames - 1, readers, drawn, evaluator=evaluator)
    return asyncio.run(readers.read(drawn, evaluator=evaluator))


@dataclass(slots=True)
class Tally:
    """What came of the replies so far."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    broken: dict[int, str] = field(default_factory=dict)  # what each of these seeds raised
    slowest_s: float = 0.0

    @property
    def total(self) -> int:
        """Replies that were read."""
        return self.outcomes.total()


def read_one(readers: Readers, seed: int, tally: Tally) -> None:
    """Draw the reply of a seed, read it, and enter what came of it."""
    random = Random(seed)
    evaluator = random.random() < 0.5
    sources = readers.evaluators if evaluator else readers.policies
    drawn = draw_reply(random, [program.text for program in sources])
    began_s = time.process_time()
    try:
        outcome = below(FRAMES, readers, drawn, evaluator=evaluator)
    except Exception as error:  # noqa: BLE001 - whatever is raised is what this looks for
        outcome = f"raised {type(error).__name__}"
        tally.broken[seed] = "".join(traceback.format_exception(error, limit=-8))
    taken_s = time.process_time() - began_s
    if taken_s > SLOW_S:
        tally.broken.setdefault(seed, f"took {taken_s:.1f} s")
    tally.slowest_s = max(tally.slowest_s, taken_s)
    tally.outcomes[drawn.how.partition(",")[0], outcome] += 1


def fuzz(readers: Readers, seeds: Sequence[int], *, until_s: float) -> Tally:
    """Read the replies of these seeds, until the clock `time.monotonic` shows `until_s`."""
    tally = Tally()
    for seed in seeds:
        if time.monotonic() >= until_s:
            break
        read_one(readers, seed, tally)
    return tally


def table(tally: Tally) -> str:
    """The outcomes as text: one line for each, one column for each way of drawing."""
    ways = sorted({how for how, _ in tally.outcomes})
    lines = [f"{'':<28}" + "".join(f"{way:>12}" for way in ways) + f"{'all':>12}"]
    for outcome in sorted({outcome for _, outcome in tally.outcomes}):
        counts = [tally.outcomes[way, outcome] for way in ways]
        lines.append(f"{outcome:<28}" + "".join(f"{count:>12,}" for count in [*counts, sum(counts)]))
    slowest = f"the slowest took {tally.slowest_s:.2f} s"
    lines.append(f"{tally.total:,} replies, {slowest}, {len(tally.broken)} broke a reader")
    return "\n".join(lines)


def main() -> int:
    """Run the command line; the exit code is 1 where a reply broke a reader."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=1, help="where the replies' seeds begin, in millions")
    parser.add_argument("--only", type=int, help="read the reply of this seed alone")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    first = arguments.seed * 1_000_000
    seeds = range(first, first + 1_000_000) if arguments.only is None else [arguments.only]
    tally = fuzz(Readers(DOMAIN), seeds, until_s=time.monotonic() + 60 * arguments.minutes)
    if arguments.json:
        outcomes = {f"{how}: {outcome}": count for (how, outcome), count in sorted(tally.outcomes.items())}
        print(json.dumps({"outcomes": outcomes, "broken": tally.broken, "slowest_s": tally.slowest_s}))
    else:
        print(table(tally))
        for seed, what in [*tally.broken.items()][:10]:
            print(f"\n--only {seed}\n{what}")
    return 1 if tally.broken else 0


if __name__ == "__main__":
    raise SystemExit(main())
