"""A scripted world: every answer depends only on the order's id, so only the sequence of answers can differ."""

import random
from collections.abc import Callable
from dataclasses import replace

from memento.core.critique import Sheet, SheetFrame
from memento.core.evaluator_tests import evaluator_tests_of
from memento.core.events import (
    AttackEvaluator,
    Compute,
    ConstantsTried,
    Criticise,
    Criticised,
    EpisodeEnded,
    EpisodeScored,
    EvaluatorAttacked,
    EvaluatorExamined,
    Examine,
    Fact,
    Judge,
    LookCloser,
    Order,
    ProbesRecorded,
    ProposalFailed,
    ProposalMade,
    Propose,
    ProposeAttack,
    ProposeEvaluator,
    RecordProbes,
    Roll,
    ScoreEpisode,
    ToolAnswered,
    TryConstants,
    TryOnTwin,
    TryProgram,
    TurnTaken,
    TwinTried,
    VoteCast,
    Withdraw,
)
from memento.core.examined import AttackCount
from memento.core.faults import Fault, FaultKind
from memento.core.keeper import Decision, Keeper
from memento.core.order_ids import slot_of
from memento.core.turns import COMPUTE, DRAFT, LOOK, OTHER, PARENT, TRY, Conversation, Passage, ToolRequest
from memento.core.values import Call, Document, Episode, Examination, Exploit, Probe, Program, Score

CALL = Call(model="scripted", prompt=Document("?"), reply=Document("!"))


class World:
    """Replies that depend on (seed, order id) only. `failure_rate` of the proposals and episodes fail."""

    def __init__(self, seed: int, *, failure_rate: float = 0.2, levels: int = 4) -> None:
        self.seed = seed
        self.failure_rate = failure_rate
        self.levels = levels  # few, so that ties are common

    def answer(self, order: Order) -> Fact:
        draw = random.Random(f"{self.seed}/{order.id}")
        match order:
            case Propose(conversation=Conversation(turns_left=left)) if left and draw.random() < 0.85:
                return self._turn(order, draw)
            case TryProgram():
                episode = self._episode(order, draw)
                fitness = draw.randrange(self.levels) / self.levels
                answer = Passage(f"{order.draft}: {fitness}")
                return ToolAnswered(order=order.id, answer=answer, episode=episode, score=Score(fitness=fitness))
            case Criticise():
                words = "" if draw.random() < self.failure_rate else f"seen in {order.episode.trajectory}"
                sheet = Sheet(frames=(SheetFrame(row=0, caption="start"),), digest="0" * 64, file="s.jpg")
                return Criticised(
                    order=order.id, candidate=order.candidate, episode=order.episode.index, words=words,
                    sheet=None if draw.random() < self.failure_rate / 2 else sheet, call=CALL,
                )
            case LookCloser() | Compute():
                return ToolAnswered(order=order.id, answer=Passage(f"rows of {order.episode.trajectory}"))
            case Propose() | ProposeEvaluator() | ProposeAttack():
                return self._propose(order, draw)
            case Roll():
                return EpisodeEnded(order=order.id, episode=self._episode(order, draw))
            case ScoreEpisode():
                fitness = draw.randrange(self.levels) / self.levels
                return EpisodeScored(order=order.id, score=Score(fitness=fitness, metrics={"m": fitness}))
            case Examine():
                return EvaluatorExamined(order=order.id, examination=self._examination(order, draw))
            case AttackEvaluator():
                return self._attack(order, draw)
            case TryConstants():
                draw = random.Random(f"{self.seed}/{order.program.text}")
                fitnesses = tuple(draw.randrange(self.levels) / self.levels for _ in order.seeds)
                return ConstantsTried(order=order.id, point=order.point, fitnesses=fitnesses, steps=1)
            case TryOnTwin():
                fault = None
                if draw.random() < self.failure_rate / 4:
                    fault = Fault(kind=FaultKind.CRASHED, message="raised")
                fitness = None if draw.random() < self.failure_rate / 4 else draw.randrange(self.levels) / self.levels
                return TwinTried(
                    order=order.id, fitness=0.0 if fault else fitness, steps=1, ended_by="end", fault=fault
                )
            case RecordProbes():
                episode = Episode(index=0, seed=order.seed, steps=1, ended_by="horizon", success=False)
                probes = [Probe(name="idle", episode=episode)]
                if order.program is not None:
                    done = replace(episode, success=True, ended_by="success")
                    probes += [Probe(name="kept", episode=episode, below=("done",)), Probe(name="done", episode=done)]
                return ProbesRecorded(order=order.id, probes=tuple(probes))
            case Judge():
                choice = draw.choice([*(entry.slot for entry in order.pool), None])
                seen = draw.sample([entry.slot for entry in order.pool], len(order.pool))
                return VoteCast(
                    order=order.id, generation=order.generation, seat=order.seat, choice=choice,
                    reason=f"reason {order.id}", seen=tuple(seen),
                )
        raise AssertionError(order)

    def _turn(self, order: Propose, draw: random.Random) -> TurnTaken:
        request = draw.choice([
            ToolRequest(tool=TRY, program=Program(f"draft {order.id}"), number=draw.randrange(3)),
            ToolRequest(tool=TRY, program=Program(f"draft {order.id}"), number=0),
            ToolRequest(tool=TRY, draft=draw.randrange(1, 4), number=1),
            ToolRequest(tool=LOOK, whose=draw.choice([PARENT, OTHER, DRAFT]), number=draw.randrange(3)),
            ToolRequest(tool=COMPUTE, whose=DRAFT, number=1, program=Program("print(1)")),
            ToolRequest(tool="", problem="unknown tool 'fly'"),
        ])
        return TurnTaken(order=order.id, request=request, said=Passage(f"reply to {order.id}"), call=CALL)

    def _attack(self, order: AttackEvaluator, draw: random.Random) -> EvaluatorAttacked:
        found = draw.randrange(3)
        exploits = tuple(
            Exploit(
                probe=Probe(name=f"{order.id}: {number}", episode=Episode(
                    index=0, seed=order.seed, steps=1, ended_by="horizon", success=False,
                    trajectory=f"{order.id}/{number}".replace("/", "_"),
                )),
                program=Program(f"exploit {number} of {order.evaluator.text}"), fitness=order.bar,
            )
            for number in range(found)
        )
        count = AttackCount(tried=order.tries + len(order.programs), found=found, best=order.bar if found else 0.1)
        return EvaluatorAttacked(order=order.id, count=count, exploits=exploits)

    def _propose(self, order: Order, draw: random.Random) -> Fact:
        summary = f"edit of {order.id}"
        if draw.random() < self.failure_rate and not order.id.startswith("init/0"):
            fault = Fault(kind=FaultKind.NOT_PYTHON, message="does not parse")
            return ProposalFailed(order=order.id, fault=fault, summary=summary, call=CALL)
        program = Program(f"program {order.id}")
        return ProposalMade(order=order.id, program=program, summary=summary, call=CALL)

    def _episode(self, order: Roll | TryProgram, draw: random.Random) -> Episode:
        whole = random.Random(f"{self.seed}/{order.program.text}").random() < self.failure_rate / 2
        fault = None
        if whole and "init/" not in order.program.text:
            fault = Fault(kind=FaultKind.NOT_STARTED, message="cannot start")
        elif draw.random() < self.failure_rate / 2:
            fault = Fault(kind=FaultKind.CRASHED, message="raised")
        return Episode(
            index=order.index,
            seed=order.seed,
            steps=draw.randrange(100),
            ended_by="fault" if fault else "horizon",
            success=False,
            fault=fault,
            trajectory=order.id.replace("/", "_"),
            scored_to_fault=fault is not None and fault.kind is FaultKind.CRASHED and draw.random() < 0.5,
        )

    def _examination(self, order: Examine, draw: random.Random) -> Examination:
        if draw.random() < self.failure_rate:
            return Examination(fault=Fault(kind=FaultKind.INVALID_RESULT, message="NaN"))
        scores = tuple(Score(fitness=draw.randrange(self.levels) / self.levels) for _ in order.episodes)
        probes = tuple(Score(fitness=draw.randrange(self.levels) / self.levels) for _ in order.probes)
        tests = evaluator_tests_of(order.episodes, scores, order.probes, probes) if order.tested else None
        return Examination(scores=scores, probe_scores=probes, tests=tests)


class Sound(World):
    """A world whose evaluators are valid."""

    def _examination(self, order: Examine, draw: random.Random) -> Examination:
        found = super()._examination(order, draw)
        return found if found.valid else self._examination(order, draw)


class Differing(Sound):
    """All programs differ, and judges choose. No episode succeeds, so nothing speaks against another evaluator."""

    def answer(self, order: Order) -> Fact:
        fact = super().answer(order)
        return replace(fact, choice=fact.seen[0]) if isinstance(fact, VoteCast) and fact.choice is None else fact

    def _propose(self, order: Order, draw: random.Random) -> Fact:
        fact = super()._propose(order, draw)
        if isinstance(fact, ProposalFailed) and not isinstance(order, ProposeEvaluator):
            return fact
        return ProposalMade(order=order.id, program=Program(f"A = {order.id!r}\n"), summary=fact.summary, call=CALL)


class Succeeding(Differing):
    """Some episodes succeed, so a successor of the evaluator may rank them wrongly."""

    def answer(self, order: Order) -> Fact:
        fact = super().answer(order)
        if isinstance(fact, EpisodeEnded) and fact.episode.fault is None and fact.episode.steps > 70:
            return replace(fact, episode=replace(fact.episode, success=True, ended_by="success"))
        return fact


class Repeating(World):
    """Proposals repeat: few programs, some with different comments; their episodes depend on the code only.

    A proposal depends on all contents of a prompt: the slot, the parents, the rejected edits.
    """

    def __init__(self, seed: int, *, programs: int = 5, **world: float) -> None:
        super().__init__(seed, **world)
        self.programs = programs

    def _propose(self, order: Order, draw: random.Random) -> Fact:
        shown = [parent.program.text for parent in order.parents]
        shown += [rejection.summary for rejection in order.rejections]
        slot = slot_of(order.id)
        draw = random.Random(f"{self.seed}/{slot}/{shown}")
        summary = f"edit of {slot} {draw.randrange(100)}"
        if draw.random() < self.failure_rate:
            fault = Fault(kind=FaultKind.NOT_PYTHON, message="does not parse")
            return ProposalFailed(order=order.id, fault=fault, summary=summary, call=CALL)
        text = f"program = {draw.randrange(self.programs)}\n" + "# again\n" * draw.randrange(2)
        return ProposalMade(order=order.id, program=Program(text), summary=summary, call=CALL)

    def answer(self, order: Order) -> Fact:
        if isinstance(order, Roll):
            code = order.program.text.partition("\n")[0]
            draw = random.Random(f"{self.seed}/{code}/{order.index}")
            fault = None
            fails = self.failure_rate / 2 if code != "program = 0" else 0.0  # which is p_0
            if random.Random(f"{self.seed}/{code}").random() < fails:
                fault = Fault(kind=FaultKind.NOT_STARTED, message="cannot start")
            elif draw.random() < fails:
                fault = Fault(kind=FaultKind.CRASHED, message="raised")
            episode = Episode(
                index=order.index, seed=order.seed, steps=1, ended_by="fault" if fault else "horizon", success=False,
                fault=fault, info={"fitness": draw.randrange(self.levels) / self.levels},
                scored_to_fault=fault is not None and fault.kind is FaultKind.CRASHED and draw.random() < 0.5,
            )
            return EpisodeEnded(order=order.id, episode=episode)
        if isinstance(order, ScoreEpisode):
            return EpisodeScored(order=order.id, score=Score(fitness=order.episode.info["fitness"]))
        return super().answer(order)


class Noting(Repeating):
    """Notes what each proposal is shown: its parents, the memory, and what it is to repair."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.shown: dict[str, tuple[object, ...]] = {}

    def answer(self, order: Order) -> Fact:
        if isinstance(order, Propose):
            self.shown[order.id] = ([one.id for one in order.parents], order.rejections, order.tried, order.focus)
        return super().answer(order)


class Skilled(Repeating):
    """A program has a skill, and an episode's f_e is the skill with noise that belongs to the episode and program."""

    def __init__(self, seed: int, *, noise: float = 0.3, programs: int = 10**6) -> None:
        super().__init__(seed, programs=programs, failure_rate=0.0)
        self.noise = noise

    def skill(self, program: Program) -> float:
        return random.Random(f"skill {self.seed} {program.text}").uniform(0.1, 0.8)

    def fitness(self, program: Program, seed: int) -> float:
        draw = random.Random(f"{self.seed}/{program.text}/{seed}")
        return min(1.0, max(0.0, draw.gauss(self.skill(program), self.noise)))

    def answer(self, order: Order) -> Fact:
        fact = super().answer(order)
        if isinstance(order, Roll) and isinstance(fact, EpisodeEnded):
            info = {"fitness": self.fitness(order.program, order.seed)}
            return replace(fact, episode=replace(fact.episode, fault=None, info=info, scored_to_fault=False))
        if isinstance(order, ScoreEpisode) and isinstance(fact, EpisodeScored):
            return replace(fact, score=Score(fitness=float(order.episode.info["fitness"])))
        return fact


class Perfect(Skilled):
    """Every program is perfect but on some seeds."""

    def __init__(self, seed: int, *, fails_on: set[int]) -> None:
        super().__init__(seed)
        self.fails_on = fails_on

    def fitness(self, program: Program, seed: int) -> float:
        return 0.25 if seed in self.fails_on else 1.0

    def answer(self, order: Order) -> Fact:
        fact = super().answer(order)
        if isinstance(fact, EvaluatorExamined):
            scores = tuple(replace(score, fitness=1.0) for score in fact.examination.scores)
            return replace(fact, examination=replace(fact.examination, scores=scores))
        return fact


def play(
    keeper: Keeper,
    world: World,
    pick: Callable[[int], int],
    *,
    steps: int | None = None,
) -> tuple[list[Fact], Decision]:
    """Run a keeper to its end (or for `steps` answers); `pick(n)` chooses which of n open orders is answered next.

    Returns the log and the last decision, with all the orders that are still open.
    """
    decision = keeper.start()
    log: list[Fact] = list(decision.facts)
    open_orders = list(decision.orders)
    state = decision.state
    count = 0
    while open_orders and not keeper.finished(state) and (steps is None or count < steps):
        order = open_orders.pop(pick(len(open_orders)))
        fact = world.answer(order)
        decision = keeper.decide(state, fact)
        state = decision.state
        log += [fact, *decision.facts]
        for new in decision.orders:
            if isinstance(new, Withdraw):
                open_orders = [old for old in open_orders if old.id != new.target]
            else:
                open_orders.append(new)
        count += 1
    return log, Decision(state=state, orders=tuple(open_orders))
