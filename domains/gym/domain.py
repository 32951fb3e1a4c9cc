"""The domain interface of a Gymnasium environment."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from ...core.ports import AuditProgram, Environment, Renderer, Shelf
from ...core.values import JSON, Brief, Contract, Program
from .names import parse_id
from .options import BY_RETURN, NONE, Settings, complete, settings
from .spaces import TEXT, Leaf, has_text
from .trace import recorded_fields

# The texts of a Gymnasium environment for prompts.


MOST_BOUNDS = 64        # numbers of a field whose bounds are listed one by one


def brief(settings: Settings) -> Brief:
    """The texts for these settings."""
    return Brief(
        task=_task(settings), policy_interface=_policy(settings), evaluator_interface=_evaluator(settings),
        uncertainties=_uncertainties(settings),
    )


def _task(settings: Settings) -> str:
    known = settings.description
    made = ", ".join(f"{name} = {value!r}" for name, value in known.kwargs.items())
    head = (
        f"Write a policy for the Gymnasium environment `{known.id}`{f' (made with {made})' if made else ''}. The "
        "return of an episode is the sum of its rewards; the policy should make it as large as possible."
    )
    if settings.task is None or settings.extends:
        body = [known.documentation or "The environment has no documentation.", settings.task or ""]
    else:
        body = [settings.task]
    return "\n\n".join([head, *(text.strip() for text in body if text.strip()), _episode(settings)])


def _episode(settings: Settings) -> str:
    known = settings.description
    lasts = f" A step lasts {known.step_s:g} s." if known.step_s is not None else ""
    lines = [
        f"- An episode has at most {known.horizon} steps, then it ends by \"horizon\". It ends earlier by "
        f"\"terminated\" or \"truncated\" where the environment says so.{lasts}",
        f"- Success: {_success(settings)}",
        f"- A policy of random actions has a mean return of {known.random_mean:.4g} (standard deviation "
        f"{known.random_std:.3g}, {known.random_episodes} episodes).",
        f"- The reference fitness of an episode grows with its return R: it is 0.25 at R = {settings.low:.4g} and 0.75 "
        f"at R = {settings.high:.4g}, and it has no upper limit of R.",
    ]
    return "\n".join(["### Episodes and fitness", "", *lines])


def _success(settings: Settings) -> str:
    if settings.success == NONE:
        return "the environment reports none; the return alone counts."
    if settings.success == BY_RETURN:
        return f"the return of the episode is at least {settings.threshold:g}."
    when = "at any step" if settings.success_at == "any" else "at the last step"
    return f"the environment reports `{settings.success}` {when} of the episode."


def _policy(settings: Settings) -> str:
    known = settings.description
    text = has_text(known.observation)
    lines = [
        "class Policy with reset(self) and compute_action(self, obs). reset is called once, before the first step. "
        f"obs is a dict with {'these values' if text else 'these numpy arrays of float64'}:",
        "", *(_field(leaf, settings, json=text) for leaf in known.observation),
        "", f"compute_action returns {_action(known.action, json=text)}",
    ]
    return "\n".join(lines)


def _field(leaf: Leaf, settings: Settings, *, json: bool) -> str:
    if leaf.kind == TEXT:
        return f"- `{leaf.name}`: a text."
    shape = f"shape {_shape(leaf)}" if not json or leaf.shape != (1,) else "a list of one number"
    kind = "nested lists of " if json and len(leaf.shape) > 1 else ""
    words = [f"- `{leaf.name}`: {kind}{'integers' if leaf.whole else 'numbers'}, {shape}, {_bounds(leaf)}."]
    seen = settings.description.seen.get(leaf.name)
    if seen is not None:
        low, high = (", ".join(f"{value:.3g}" for value in ends) for ends in seen)
        words.append(f"In random episodes the least values were [{low}] and the greatest [{high}].")
    return " ".join(words)


def _shape(leaf: Leaf) -> str:
    return f"({leaf.shape[0]},)" if len(leaf.shape) == 1 else str(leaf.shape)


def _bounds(leaf: Leaf) -> str:
    if len(leaf.low) == 1 and len(leaf.high) == 1:
        return f"each {_between(leaf.low[0], leaf.high[0])}"
    if leaf.size > MOST_BOUNDS:
        return f"between {min(leaf.low):.4g} and {max(leaf.high):.4g}"
    return f"bounds: {'; '.join(_pairs(leaf))}"


def _pairs(leaf: Leaf) -> list[str]:
    low = leaf.low * leaf.size if len(leaf.low) == 1 else leaf.low
    high = leaf.high * leaf.size if len(leaf.high) == 1 else leaf.high
    return [f"[{place}] {_between(*pair)}" for place, pair in enumerate(zip(low, high, strict=True))]


def _between(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return "unbounded"
    if math.isinf(high):
        return f"at least {low:.4g}"
    return f"at most {high:.4g}" if math.isinf(low) else f"from {low:.4g} to {high:.4g}"


def _action(leaves: Sequence[Leaf], *, json: bool) -> str:
    size = sum(leaf.size for leaf in leaves)
    kind = "a list" if json else "a list or numpy array"
    plain = "" if size > 1 else ", or a plain number"
    lines = [f"{kind} of {size} {'number' if size == 1 else 'numbers'}{plain}:"]
    start = 0
    for leaf in leaves:
        places = f"[{start}]" if leaf.size == 1 else f"[{start}] to [{start + leaf.size - 1}]"
        rule = ("integers; anything else ends the episode as an invalid action" if leaf.whole
                else "numbers beyond the bounds are clipped to them")
        lines.append(f"- {places}: `{leaf.name}`, {_bounds(leaf)}; {rule}.")
        start += leaf.size
    return "\n".join(lines)


def _evaluator(settings: Settings) -> str:
    known = settings.description
    size = sum(leaf.size for leaf in known.action)
    kept = recorded_fields(known)
    lines = [
        "class Evaluator with evaluate(self, trajectory). trajectory is a dict of numpy arrays of one episode of T "
        "steps:",
        "", *(f"- `{leaf.name}`: {_recorded(leaf)}, as observed; row 0 is the start." for leaf in kept),
        f"- `action` (T, {size}): as the environment got it.",
        "- `reward` (T,), `terminated` (T,) and `truncated` (T,): of every step.",
    ]
    lost = [leaf.name for leaf in known.observation if leaf not in kept]
    if lost:
        lines.append(f"- Not recorded, because they are too large: {', '.join(lost)}.")
    if not kept:
        lines.append("- `step` (T + 1,): the numbers of the steps.")
    for field in known.info:
        shape = "(T,)" if field.size == 1 else f"(T, {field.size})"
        lines.append(f"- `{field.name}` {shape}: what the environment reports as {'.'.join(field.path)}; NaN where it "
                     "reported nothing.")
    lines += [
        f"- `action_low` ({size},) and `action_high` ({size},): the bounds of an action.",
        f"- `return_low` (1,) and `return_high` (1,): the mean return of random actions, {settings.low:.4g}, and a "
        f"good return, {settings.high:.4g}.",
        "", "It returns a pair: a fitness in [0, 1] and a dict of metrics. T may be 0.",
    ]
    return "\n".join(lines)


def _recorded(leaf: Leaf) -> str:
    if leaf.kind == TEXT:
        return "texts (T + 1,)"
    return f"(T + 1, {', '.join(map(str, leaf.shape))})"


def _uncertainties(settings: Settings) -> str:
    if not settings.description.repeatable:
        return "The start of an episode varies, and episodes are not repeatable: chance that no seed controls has part."
    return "What the environment draws at random, such as the start of an episode, differs between episodes."


@dataclass(frozen=True, slots=True, kw_only=True)
class GymDomain:
    """Implements `core.ports.Domain` for the environment `environment_id`."""

    environment_id: str
    name: str = "gym"
    contract: Contract = Contract(class_name="Policy", methods=(("reset", 0), ("compute_action", 1)))
    evaluator_contract: Contract = Contract(class_name="Evaluator", methods=(("evaluate", 1),))

    @property
    def title(self) -> str:
        """One line for lists."""
        return f"Gymnasium's environment {self.environment_id}"

    def options(self, given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
        """All options; the same for every preset. The first time a helper looks at the environment.

        Raises UsageError.
        """
        return complete(given, environment_id=self.environment_id)

    def brief(self, options: Mapping[str, JSON]) -> Brief:
        """The texts for prompts under these (completed) options."""

        return brief(settings(options))

    def control_period_ms(self, options: Mapping[str, JSON]) -> float | None:
        """The duration of a step, where the environment knows it: see `core.ports.Periodic`."""
        step_s = settings(options).description.step_s
        return None if step_s is None else 1000 * step_s

    def environment(self, options: Mapping[str, JSON]) -> Environment:
        """Make the environment for these (completed) options."""
        from .environment import GymEnvironment

        return GymEnvironment(settings(options))

    def renderer(self, options: Mapping[str, JSON]) -> Renderer:
        """The renderer of episodes under these (completed) options: see `core.ports.Drawable`."""
        from .render import GymRenderer

        return GymRenderer(settings=settings(options))

    def interpreter(self, options: Mapping[str, JSON]) -> str | None:
        """The Python that has the environment, if it is another one: see `core.ports.Interpreted`."""
        python = options.get("python")
        return None if python is None else str(python)

    def programs(self, options: Mapping[str, JSON]) -> tuple[str, ...]:
        """That Python, which a run from elsewhere would start: see `core.ports.Starting`."""
        python = self.interpreter(options)
        return () if python is None else (python,)

    def has_success(self, options: Mapping[str, JSON]) -> bool:
        """Whether the environment reports success, or a return counts as one: see `core.ports.Succeeding`."""
        return options["success"] != NONE

    def reference_evaluator(self) -> Program:
        """The return, mapped to (0, 1)."""
        text = files(__package__) / "evaluator.py"
        return Program(text.read_text(encoding="utf-8"))

    def shelf(self) -> Shelf | None:
        """None: the parts depend on the spaces; `shelf_for` has them."""
        return None

    def shelf_for(self, options: Mapping[str, JSON]) -> Shelf:
        """The parts for the offline model that fit the environment's spaces: see `core.ports.Furnishing`."""
        from .shelf import shelf

        return shelf(settings(options).documented)

    def tuning_episodes(self, options: Mapping[str, JSON]) -> int:
        """How far an offline search tunes constants by default: see `core.ports.Numeric`."""
        from .shelf import tuning_episodes

        return tuning_episodes(settings(options).documented)

    def audit_programs(self, options: Mapping[str, JSON], *, seeds: Sequence[int]) -> Iterable[AuditProgram]:
        """Hand-written programs for an audit of evaluators: see `core.ports.Auditable`."""
        from ..plain_audit import vector_programs
        from .spaces import ActionReader

        reader = ActionReader(settings(options).description.action)
        low, high = reader.bounds()
        return vector_programs(
            self.contract.class_name, idle=reader.idle().tolist(), low=low.tolist(), high=high.tolist(),
            whole=reader.whole.tolist(),
        )


def domain_of(environment_id: str) -> GymDomain:
    """The domain of this environment. Raises UsageError for a text that is no id."""
    parse_id(environment_id)
    return GymDomain(environment_id=environment_id)
