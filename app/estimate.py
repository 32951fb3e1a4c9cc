"""`memento run --estimate`: the calls, tokens and dollars of a run as a range, from its settings and real prompts.

Nothing is spent, run or written, and no key is needed: the agents fill their prompts for made-up programs of a small
and of a large size (`estimate_samples.py`), and a model that answers nothing notes the size of what it was asked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from ..agents.hints import Hints
from ..agents.notes import Notes
from ..core.audits import HACK
from ..core.errors import UsageError
from ..core.events import ProposeAttack
from ..core.methods import CALIBRATE, load_method
from ..core.ports import Ask, Reply
from ..core.values import JSON
from ..domains import load as load_domain
from ..models.prices import Price, cost_usd
from ..models.prompt_cache import WORTH_CHARACTERS
from ..models.spec import ModelSpec, parse_specs
from ..settings import ATTACKER, CRITIC, Settings
from .budgets import models_of, prices_of, require_usable
from .estimate_samples import HIGH, LOW, Assumed, Samples
from .estimated_calls import Kind, kinds_of
from .given_prompts import prompts_with, read_prompts
from .past_runs import Expected, PastTime, expected_from, past_runs, times_from
from .sight import refuse_text_models
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
    expected: Expected | None = None      # where past runs are known
    past_times: tuple[PastTime, ...] = ()     # of finished runs of the same task

    @property
    def total(self) -> EstimatedCalls:
        """All parts together; the tokens of one call do not apply and are 0."""
        return together("total", self.parts)

    def roles(self) -> tuple[EstimatedCalls, ...]:
        """The parts of every role together."""
        return tuple(together(role, [part for part in self.parts if part.role == role]) for role in self.models)



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


async def estimate(settings: Settings, past_in: Sequence[Path] = ()) -> Estimate:
    """The estimate for a run with these settings; with an expectation from the past runs in the folders `past_in`.

    Raises UsageError for settings that the run would refuse.
    """
    if settings.method == CALIBRATE:
        raise UsageError(f"a calibration has no estimate: it asks {settings.generations} times, or twice as often")
    refuse_text_models(settings)
    require_usable(settings)
    require_shelves([settings])
    low, high = Recorder(), Recorder()
    parts = [
        _part(settings, kind, await _size(settings, kind, LOW, low), await _size(settings, kind, HIGH, high))
        for kind in kinds_of(settings)
    ]
    past = past_runs(past_in, settings) if past_in else []
    return Estimate(
        settings=settings, models=models_of(settings), parts=tuple(parts),
        expected=expected_from(past, settings) if past else None, past_times=times_from(past, settings),
    )


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
    load_method(settings.method, settings.provenance)
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
