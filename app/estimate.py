"""`memento run --estimate`: the calls, tokens and dollars of a run as a range, from its settings and real prompts.

Nothing is spent, run or written, and no key is needed: the agents fill their prompts for made-up programs of a small
and of a large size (`estimate_samples.py`), and a model that answers nothing notes the size of what it was asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from ..agents.hints import Hints
from ..agents.notes import Notes
from ..core.audits import HACK
from ..core.errors import StoreError, UsageError
from ..core.events import ProposeAttack
from ..core.methods import CALIBRATE, branches_of, candidates_expected
from ..core.operators import OPERATORS
from ..core.ports import Ask, Reply
from ..core.values import JSON, Operator
from ..domains import load as load_domain
from ..memory.runs import DATABASE, list_runs
from ..memory.spending import RoleSpending
from ..memory.tail import read_outline, read_view
from ..models.client import WORTH_CHARACTERS
from ..models.prices import Price, cost_usd
from ..models.spec import ModelSpec, parse_specs
from ..search.stages import ATTEMPTS
from ..settings import ATTACKER, CRITIC, Settings, recorded_settings
from .budgets import models_of, prices_of, require_usable
from .estimate_samples import HIGH, LOW, Assumed, Samples
from .given_files import prompts_with, read_prompts
from .required import refuse_the_blind
from .wiring import Askers, Models, aids_of, asking_of, make_askers, require_shelves

ASSUMPTIONS = (
    f"low to high: policies of {LOW.policy_characters:,} to {HIGH.policy_characters:,} characters, evaluators of"
    f" {LOW.evaluator_characters:,} to {HIGH.evaluator_characters:,}, with {LOW.metrics} to {HIGH.metrics} metrics",
    f"a token is {HIGH.characters_per_token:g} to {LOW.characters_per_token:g} characters; a reply has"
    f" {LOW.prose_characters:,} to {HIGH.prose_characters:,} characters besides its program or patch, and a patch is"
    f" 1/{1 / LOW.patch_share:.0f} to 1/{1 / HIGH.patch_share:.0f} of its program",
    f"a model thinks for 0 to {HIGH.thinking_tokens:,} tokens a call, which are charged as output",
    f"high: {HIGH.repaired_share:.0%} of the replies cannot be used and are asked for again, {HIGH.withdrawn_share:.0%}"
    " of the speculative calls are withdrawn and charged, and nothing comes from a cache",
    "with proposer_turns, low: no tool is called; high: all turns are used, and a prompt is one in the middle of the"
    " conversation, with a whole program in every reply",
    f"a critic's sheet takes {LOW.picture_tokens:,} to {HIGH.picture_tokens:,} tokens; low: one look in all; high: one"
    " at every program that a later prompt could show",
    "low: the repeated beginnings of prompts come from the service's cache, except once in a generation",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatedCalls:
    """The calls of one kind: of a role, with its range of (low, high) in calls, tokens and US dollars.

    `cost_usd` is None if a price is unknown.
    """

    role: str
    what: str
    calls: tuple[int, int]
    prompt_tokens: tuple[int, int]      # of one call
    reply_tokens: tuple[int, int]       # of one call
    input_tokens: tuple[int, int]       # of all calls
    output_tokens: tuple[int, int]      # of all calls
    cost_usd: tuple[float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The parts of a run's use of models, and the models by role."""

    settings: Settings
    models: Mapping[str, tuple[str, ...]]
    parts: tuple[EstimatedCalls, ...]
    expected: "Expected | None" = None      # where past runs are known
    past_times: tuple["PastTime", ...] = ()     # of finished runs of the same task

    @property
    def total(self) -> EstimatedCalls:
        """All parts together; the tokens of one call do not apply and are 0."""
        return together("total", self.parts)

    def roles(self) -> tuple[EstimatedCalls, ...]:
        """The parts of every role together."""
        return tuple(together(role, [part for part in self.parts if part.role == role]) for role in self.models)


@dataclass(frozen=True, slots=True, kw_only=True)
class PastTime:
    """How long a finished run worked, in seconds without pauses, and how many candidates it had at most."""

    active_s: float
    candidates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a run uses if its calls are like those of past runs with the same models. `same_task`: all were of its task.

    `cost_usd` is None if the price of a past call is unknown.
    """

    runs: int
    same_task: bool
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


def together(role: str, parts: Sequence[EstimatedCalls]) -> EstimatedCalls:
    """The sum of several parts."""
    costs = [part.cost_usd for part in parts]
    known = [each for each in costs if each is not None]
    return EstimatedCalls(
        role=role, what="", prompt_tokens=(0, 0), reply_tokens=(0, 0),
        calls=(sum(part.calls[0] for part in parts), sum(part.calls[1] for part in parts)),
        input_tokens=(sum(part.input_tokens[0] for part in parts), sum(part.input_tokens[1] for part in parts)),
        output_tokens=(sum(part.output_tokens[0] for part in parts), sum(part.output_tokens[1] for part in parts)),
        cost_usd=(sum(each[0] for each in known), sum(each[1] for each in known)) if len(known) == len(costs) else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of calls: how many a run makes at least and at most, without repairs and withdrawn calls.

    `batches` are the generations in which they are made. `reply` is what a reply holds.
    """

    role: str
    what: str
    calls: tuple[int, int]
    batches: int
    operator: Operator | None = None
    reply: str = "policy"       # policy, evaluator, patch, evaluator-patch, vote or critique
    pictures: int = 0           # that go with each of them
    speculative: int = 0        # calls that may be made in vain
    turns: int = 0              # calls of tools before each of them, at most


async def estimate(settings: Settings, past_in: Sequence[Path] = ()) -> Estimate:
    """The estimate for a run with these settings; with an expectation from the past runs in the folders `past_in`.

    Raises UsageError for settings that the run would refuse.
    """
    if settings.method == CALIBRATE:
        raise UsageError(f"a calibration has no estimate: it asks {settings.generations} times, or twice as often")
    refuse_the_blind(settings)
    require_usable(settings)
    require_shelves([settings])
    low, high = Recorder(), Recorder()
    parts = [
        _part(settings, kind, await _size(settings, kind, LOW, low), await _size(settings, kind, HIGH, high))
        for kind in kinds_of(settings)
    ]
    past = past_runs(past_in, settings) if past_in else []
    times = tuple(
        PastTime(active_s=run.active_s, candidates=candidates_expected(run.settings.as_json()))
        for run in past if run.done and run.settings.domain == settings.domain
    )
    return Estimate(
        settings=settings, models=models_of(settings), parts=tuple(parts), past_times=times,
        expected=expected_from(past, settings) if past else None,
    )


# ------------------------------------------------------------------------------------------- what past runs used


MOST_PAST = 20      # runs that are read, the newest first


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """The settings of a past run, what its roles used, and whether it came to its end."""

    settings: Settings
    by_role: Mapping[str, RoleSpending]
    done: bool
    active_s: float = 0.0


def past_runs(past_in: Sequence[Path], settings: Settings) -> list[PastRun]:
    """The newest runs in the folders that asked the same models; if there are some, only those of the same task."""
    found: list[PastRun] = []
    listed = {folder for runs_dir in past_in for folder in list_runs(runs_dir)}
    folders = sorted(listed, key=lambda folder: (folder / DATABASE).stat().st_mtime, reverse=True)
    for folder in folders:
        with suppress(StoreError, UsageError):      # what cannot be read teaches nothing
            past = recorded_settings(read_outline(folder).status.settings)
            if past.replay is not None or not _asks_alike(past, settings):
                continue
            status = read_view(folder).status
            found.append(PastRun(
                settings=past, by_role=status.spending.by_role, done=status.status == "done", active_s=status.active_s
            ))
        if len(found) == MOST_PAST:
            break
    same = [run for run in found if run.settings.domain == settings.domain]
    return same or found


def _asks_alike(past: Settings, settings: Settings) -> bool:
    theirs, ours = models_of(past), models_of(settings)
    return all(theirs.get(role) == names for role, names in ours.items())


def expected_from(past: Sequence[PastRun], settings: Settings) -> Expected | None:
    """The expectation from past runs; None where a role of this run used nothing that is known."""
    calls = tokens_in = tokens_out = 0.0
    usd: float | None = 0.0
    named = models_of(settings)
    for role, slots in _slots(settings).items():
        if all(spec.free for name in named[role] for spec in parse_specs(name)):
            continue
        used = [run.by_role[role] for run in past if role in run.by_role]
        asked = sum(each.calls for each in used)
        if not asked or not sum(each.tokens for each in used):
            return None
        whole = [run for run in past if run.done and _slots(run.settings).get(role)]
        made = sum(run.by_role[role].calls for run in whole if role in run.by_role)
        share = made / sum(_slots(run.settings)[role] for run in whole) if made else 1.0
        calls += slots * share
        tokens_in += slots * share * sum(each.input_tokens for each in used) / asked
        tokens_out += slots * share * sum(each.output_tokens for each in used) / asked
        costs = [each.cost_usd for each in used]
        usd = None if usd is None or None in costs else usd + slots * share * sum(filter(None, costs)) / asked
    if not calls:
        return None
    return Expected(
        runs=len(past), same_task=all(run.settings.domain == settings.domain for run in past), calls=round(calls),
        input_tokens=round(tokens_in), output_tokens=round(tokens_out), cost_usd=usd,
    )


def _slots(settings: Settings) -> dict[str, int]:
    """The least calls of each role."""
    slots: dict[str, int] = {}
    for kind in kinds_of(settings):
        slots[kind.role] = slots.get(kind.role, 0) + kind.calls[0]
    return slots


# ---------------------------------------------------------------------------------------------- how many calls


def kinds_of(settings: Settings) -> Iterator[Kind]:
    """The kinds of calls of a run, in the order of its stages."""
    if settings.initial is None:
        yield Kind(
            role="proposer", what="first policy", calls=(1, ATTEMPTS), batches=1, operator=Operator.INITIAL
        )
    yield from _of_evaluators(settings)
    patches = settings.reply == "patch"
    for branch in branches_of(settings.as_json()):
        slots = branch.slots * settings.generations
        for place, operator in enumerate(branch.operators):
            if operator is Operator.TUNE:
                continue  # asks no model
            share = slots // len(branch.operators) + (place < slots % len(branch.operators))
            if share:
                climb = operator is Operator.HILL_CLIMB
                turns = settings.proposer_turns if operator is not Operator.INITIAL else 0
                parents = {Operator.INITIAL: 0, Operator.CROSSOVER: 2}.get(operator, 1)
                yield Kind(
                    role="proposer", what=OPERATORS[operator].proposal, calls=(share, share * (1 + turns)),
                    operator=operator, turns=turns,
                    batches=settings.generations, reply="patch" if climb and patches else "policy",
                    speculative=share if climb and settings.speculation else 0,
                    pictures=parents if settings.critic_mode == "pixels" else 0,
                )
    if settings.critic is not None:
        yield Kind(
            role=CRITIC, what="critique", calls=(1, _most_looks(settings)), batches=settings.generations,
            reply="critique", pictures=1,
        )


def _most_looks(settings: Settings) -> int:
    """The programs that later prompts can show: p_0, accepted climbs, and the winners of the other branches.

    A population can show all of its programs.
    """
    branches = branches_of(settings.as_json())
    islands = any(len(branch.operators) > 1 for branch in branches)
    each = sum(
        branch.slots if islands or Operator.HILL_CLIMB in branch.operators else min(1, branch.slots)
        for branch in branches
    )
    return 1 + settings.generations * each


def _of_evaluators(settings: Settings) -> Iterator[Kind]:
    pool, generations = settings.evaluator_pool, settings.evaluator_generations
    if settings.evaluator == "zero-shot":
        yield Kind(
            role="evaluator-writer", what="first evaluator", calls=(1, ATTEMPTS), batches=1, reply="evaluator"
        )
    if settings.evaluator != "evolve":
        return
    yield Kind(role="evaluator-writer", what="first evaluator", calls=(pool, pool), batches=1, reply="evaluator")
    moves = (settings.generations - 1) // settings.evaluator_every if settings.evaluator_every else 0
    again = moves * max(1, generations - 1)    # generations of evaluators in all moves
    revisions, attacks = pool * (generations - 1 + again), settings.evaluator_attacks * (1 + moves)
    if revisions or attacks:
        yield Kind(
            role="evaluator-writer", what="evaluator revision", calls=(revisions, revisions + attacks),
            batches=max(1, generations - 1 + again),
            reply="evaluator-patch" if settings.reply == "patch" else "evaluator",
        )
    if ATTACKER in models_of(settings):
        yield Kind(
            role=ATTACKER, what="attack on the evaluator", calls=(1, 1 + moves + attacks), batches=1 + moves
        )
    votes = settings.evaluator_judges * (generations + again)
    yield Kind(role="judge", what="vote", calls=(votes, votes), batches=generations + again, reply="vote")


# --------------------------------------------------------------------------------------------- how large they are


@dataclass(slots=True)
class Recorder:
    """A model that answers nothing and keeps the last question."""

    name: str = "estimate"
    asked: list[Ask] = field(default_factory=list)

    async def complete(self, ask: Ask) -> Reply:
        """An empty reply."""
        self.asked.append(ask)
        return Reply(text="", model=self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The tokens of one call under one assumption; `repeated` of the prompt are a beginning that others share."""

    assumed: Assumed
    prompt: int
    repeated: int
    reply: int


async def _size(settings: Settings, kind: Kind, assumed: Assumed, model: Recorder) -> Size:
    domain = load_domain(settings.domain, settings.provenance)
    models = Models(proposer=model, evaluator_writer=model, judges=(model,), attacker=model, critic=model)
    aids = aids_of(settings, Hints(), Notes())
    samples = Samples(
        assumed, n_roll=settings.n_roll, pool=settings.evaluator_pool, probes=settings.probes == "on"
    )
    askers = make_askers(
        settings, domain, models, prompts_with(read_prompts(settings.prompts)), aids,
        sheets=samples if settings.looks else None,
    )
    model.asked.clear()
    await _ask(settings, askers, samples, kind)
    asked = model.asked[0]
    per_token = assumed.characters_per_token
    repeated = asked.prefixes[-1] if asked.prefixes else 0
    return Size(
        assumed=assumed,
        prompt=round(len(asked.prompt) / per_token) + kind.pictures * assumed.picture_tokens,
        repeated=round(repeated / per_token) if repeated >= WORTH_CHARACTERS else 0,
        reply=round(_reply_characters(kind, assumed) / per_token) + assumed.thinking_tokens,
    )


async def _ask(settings: Settings, askers: Askers, samples: Samples, kind: Kind) -> None:
    if kind.operator is not None:
        order = samples.propose(kind.operator, looked=settings.looks)
        conversation = samples.conversation(kind.turns) if kind.turns else None
        await askers.proposer.carry_out(replace(order, conversation=conversation))
    elif kind.role == "judge":
        await askers.judges.carry_out(samples.judge(looked=settings.critic_judges == "on"))
    elif askers.critic is not None and kind.role == CRITIC:
        await askers.critic.carry_out(samples.look())
    elif kind.role == ATTACKER:
        chosen = samples.propose_evaluator(revision=True).parent
        assert chosen is not None
        await askers.attacker.carry_out(ProposeAttack(id="eval/attack/0", evaluator=chosen, bar=HACK))
    else:
        await askers.evolver.carry_out(samples.propose_evaluator(revision=kind.what == "evaluator revision"))


def _reply_characters(kind: Kind, assumed: Assumed) -> float:
    if kind.reply == "critique":
        return assumed.critique_characters
    programs = {
        "policy": assumed.policy_characters, "patch": assumed.policy_characters * assumed.patch_share,
        "evaluator": assumed.evaluator_characters, "vote": 0,
        "evaluator-patch": assumed.evaluator_characters * assumed.patch_share,
    }
    return programs[kind.reply] + assumed.prose_characters


# -------------------------------------------------------------------------------------------------- what they cost


def _part(settings: Settings, kind: Kind, low: Size, high: Size) -> EstimatedCalls:
    specs = [parse_specs(text)[0] for text in models_of(settings)[kind.role]]   # of fallbacks the first one
    paid = sum(not spec.free for spec in specs) / len(specs)
    calls = _calls(settings, kind, low.assumed)[0], _calls(settings, kind, high.assumed)[1]
    ends = ((low, calls[0]), (high, calls[1]))
    prices = prices_of(settings)
    cached = asking_of(settings, kind.role).cache is not False
    costs = [_cost(specs, prices, size, count, kind.batches, cached=cached) for size, count in ends]
    return EstimatedCalls(
        role=kind.role, what=kind.what, calls=calls,
        prompt_tokens=(low.prompt, high.prompt), reply_tokens=(low.reply, high.reply),
        input_tokens=(round(paid * calls[0] * low.prompt), round(paid * calls[1] * high.prompt)),
        output_tokens=(round(paid * calls[0] * low.reply), round(paid * calls[1] * high.reply)),
        cost_usd=None if costs[0] is None or costs[1] is None else (costs[0], costs[1]),
    )


def _calls(settings: Settings, kind: Kind, assumed: Assumed) -> tuple[int, int]:
    again = kind.role == "judge" or (settings.repairs > 0 and kind.role != CRITIC)     # a critic is asked once
    repairs = assumed.repaired_share if again else 0.0
    least, most = kind.calls
    in_vain = kind.speculative * assumed.withdrawn_share
    return round(least * (1 + repairs) + in_vain), round(most * (1 + repairs) + in_vain)


def _cost(
    specs: list[ModelSpec], prices: Mapping[str, Price], size: Size, calls: int, batches: int, *, cached: bool
) -> float | None:
    """US dollars of `calls` calls, dealt evenly to the models; None if a price is unknown."""
    from genai_prices import Usage

    total = 0.0
    for spec in specs:
        if spec.free:
            continue
        hits = max(0, calls - batches) / calls if calls and cached and size.assumed.cached else 0.0
        usage = Usage(
            input_tokens=size.prompt, output_tokens=size.reply, cache_read_tokens=round(hits * size.repeated)
        )
        usd = cost_usd(spec, prices.get(spec.name), usage)
        if usd is None:
            return None
        total += usd * calls / len(specs)
    return total


def as_json(found: Estimate) -> dict[str, JSON]:
    """The estimate as JSON: ranges are [low, high]."""
    return {
        "domain": found.settings.domain, "method": found.settings.method, "preset": found.settings.preset,
        "models": {role: list(names) for role, names in found.models.items()},
        "parts": [{"role": part.role, "what": part.what, **_ranges(part, each=True)} for part in found.parts],
        "roles": {part.role: _ranges(part) for part in found.roles()},
        "total": _ranges(found.total),
        "expected": None if found.expected is None else asdict(found.expected),
        "past_times": [asdict(each) for each in found.past_times],
        "assumptions": list(ASSUMPTIONS),
    }


def _ranges(part: EstimatedCalls, *, each: bool = False) -> dict[str, JSON]:
    of_a_call: dict[str, JSON] = {
        "prompt_tokens": [*part.prompt_tokens], "reply_tokens": [*part.reply_tokens],
    } if each else {}
    return {
        "calls": list(part.calls), **of_a_call, "input_tokens": list(part.input_tokens),
        "output_tokens": list(part.output_tokens),
        "cost_usd": None if part.cost_usd is None else [round(usd, 4) for usd in part.cost_usd],
    }
