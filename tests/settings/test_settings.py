"""The sources of settings, refusals, and repeating a run from its settings text."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from memento.app.plan import slots_of
from memento.core.errors import UsageError, no_such
from memento.core.methods import METHODS, branches_of
from memento.core.values import JSON
from memento.search.keepers import KEEPERS
from memento.search.setting_groups import ROLES
from memento.settings import Settings, build_settings, building, checks, fits, groups, parse_assignments
from memento.settings.model import TABLES
from memento.settings.presets import PRESETS

pytestmark = pytest.mark.quick


def toy_options(given: Mapping[str, JSON], *, preset: str) -> dict[str, JSON]:
    values: dict[str, JSON] = {"horizon": {"smoke": 10, "quick": 100, "paper": 1000}[preset], "wind": "none"}
    for key in given:
        if key not in values:
            raise no_such("option of toy", key, values)
    return values | dict(given)


@pytest.fixture(autouse=True)
def toy_domains(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two domains without a simulator."""
    domains = {name: SimpleNamespace(name=name, options=toy_options, shelf=lambda: None) for name in ("toy", "other")}

    def load(name: str, provenance: object) -> SimpleNamespace:
        if name not in domains:
            raise no_such("domain", name, domains)
        return domains[name]

    monkeypatch.setattr(building, "load_domain", load)
    for module in (building, checks):
        monkeypatch.setattr(module, "domain_names", lambda: tuple(domains))


def build(
    flags: Mapping[str, JSON] | None = None,
    *,
    sets: tuple[str, ...] = (),
    config: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> Settings:
    return build_settings({"domain": "toy", **(flags or {})}, assignments=sets, config=config, environment=env or {})


def refusal(*arguments: object, **keywords: object) -> str:
    with pytest.raises(UsageError) as caught:
        build(*arguments, **keywords)   # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---------------------------------------------------------------------------------------- precedence


def test_the_preset_fills_settings_that_were_not_given() -> None:
    settings = build()
    assert settings.preset == "quick"
    for name, preset in PRESETS.items():
        filled = build({"preset": name})
        assert {key: getattr(filled, key) for key in preset} == dict(preset)
        assert filled.options["horizon"] == {"smoke": 10, "quick": 100, "paper": 1000}[name]


def test_the_paper_preset_is_the_papers_budget() -> None:
    paper = build({"preset": "paper"})
    budget = (paper.generations, paper.k_hc, paper.k_macro, paper.k_cross, paper.n_roll)
    assert budget == (5, 10, 10, 4, 10)
    assert (paper.evaluator_pool, paper.evaluator_generations, paper.evaluator_judges) == (8, 5, 10)


def test_flags_over_environment_over_file_over_preset(tmp_path: Path) -> None:
    config = tmp_path / "s.toml"
    config.write_text('k_hc = 7\nk_macro = 7\nk_cross = 7\nseed = 7\n[toy]\nhorizon = 7\nwind = "strong"\n')
    env = {"MEMENTO_K_MACRO": "8", "MEMENTO_SEED": "8", "MEMENTO_TOY__HORIZON": "8", "PATH": "/bin"}
    settings = build({"seed": 9}, sets=("k_cross=9",), config=config, env=env)
    assert (settings.k_hc, settings.k_macro, settings.k_cross, settings.seed) == (7, 8, 9, 9)
    assert settings.generations == PRESETS["quick"]["generations"]
    assert settings.options == {"horizon": 8, "wind": "strong"}


def test_the_preset_may_come_from_a_file(tmp_path: Path) -> None:
    config = tmp_path / "s.toml"
    config.write_text('preset = "smoke"\n')
    assert build(config=config).generations == 1
    assert build({"preset": "paper"}, config=config).generations == 5


def test_paths_in_a_file_are_relative_to_the_file(tmp_path: Path) -> None:
    config = tmp_path / "s.toml"
    config.write_text('initial = "p.py"\nevaluator = "reference"\n')
    settings = build(config=config)
    assert settings.initial == str(tmp_path / "p.py")
    assert settings.evaluator == "reference"


def test_judges_by_commas_and_by_list() -> None:
    assert build(env={"MEMENTO_JUDGES": "offline, openai:x"}).judges == ("offline", "openai:x")
    assert build(sets=('judges=["a", "b"]',)).judges == ("a", "b")


def test_texts_are_never_read_as_numbers() -> None:
    assert build(sets=("model=007",)).model == "007"
    assert build(sets=("toy.wind=strong",)).options["wind"] == "strong"
    assert build(sets=("toy.horizon=12",)).options["horizon"] == 12


# ------------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"sets": ("k_hcc=1",)}, ["'k_hcc'", "'k_hc'", "--set"]),
        ({"env": {"MEMENTO_K_MACR": "1"}}, ["'k_macro'", "MEMENTO_K_MACR"]),
        ({"sets": ("toy.windd=x",)}, ["'windd'", "'wind'"]),
        ({"sets": ("tyo.wind=x",)}, ["'tyo'", "'toy'"]),
        ({"sets": ("other.wind=x",)}, ["'other.wind'", "'toy'", "no effect"]),
        ({"sets": ("k_hc",)}, ["'k_hc'", "key=value"]),
        ({"sets": ("k_hc=1", "k_hc=2")}, ["twice"]),
        ({"sets": ("k_hc=-1",)}, ["k_hc", "-1", "--set", "greater than or equal to 0"]),
        ({"sets": ("n_roll=0",)}, ["n_roll", "0"]),
        ({"sets": ("n_roll=many",)}, ["n_roll", "'many'", "integer"]),
        ({"sets": ("options=1",)}, ["'options'"]),
        ({"sets": ("k_hc=0", "k_macro=0", "k_cross=0")}, ["k_hc", "all 0"]),
        ({"env": {"MEMENTO_WORKERS": "0"}}, ["workers", "MEMENTO_WORKERS"]),
        ({"sets": ("robust=on",)}, ["'toy' has no changed conditions", "remove robust = 'on'"]),
    ],
)
def test_refusals_name_the_thing_and_the_place(keywords: dict[str, object], words: list[str]) -> None:
    sentence = refusal(**keywords)
    assert all(word in sentence for word in words), sentence


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({"domain": "tyo"}, ["'tyo'", "'toy'"]),
        ({"domain": None}, ["which domain", "toy"]),
        ({"preset": "papper"}, ["'papper'", "'paper'"]),
        ({"method": "mementoo"}, ["'mementoo'", "'memento'"]),
        ({"workers": 0}, ["workers", "--workers"]),
        ({"workers": 257}, ["workers", "256"]),
        ({"seed": -1}, ["seed", "-1", "--seed"]),
    ],
)
def test_bad_flags(flags: dict[str, JSON], words: list[str]) -> None:
    sentence = refusal(flags)
    assert all(word in sentence for word in words), sentence


def test_a_flag_and_a_set_of_the_same_thing() -> None:
    assert "given twice" in refusal({"seed": 1}, sets=("seed=2",))


@pytest.mark.parametrize("evaluator", ["reference", "zero-shot", "mine.py"])
@pytest.mark.parametrize("key", ["evaluator_pool", "evaluator_generations", "evaluator_judges"])
def test_what_has_no_effect_is_refused(evaluator: str, key: str) -> None:
    sentence = refusal({"evaluator": evaluator}, sets=(f"{key}=2",))
    assert f"'{key}' has no effect with the evaluator" in sentence
    assert evaluator in sentence


def test_judges_without_a_vote_are_refused() -> None:
    assert "--judge" in refusal({"evaluator": "reference", "judges": ["offline"]})


@pytest.mark.parametrize("word", ["evolv", "referense", "zeroshot"])
def test_an_evaluator_that_is_nearly_a_word(word: str) -> None:
    assert "did you mean" in refusal({"evaluator": word})


def test_files_are_kept_by_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = build({"evaluator": "e.py", "initial": "p.py"})
    assert settings.evaluator == str(tmp_path / "e.py")
    assert settings.initial == str(tmp_path / "p.py")
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "again.toml").write_text(settings.as_toml())
    assert build_settings({}, config=tmp_path / "far" / "again.toml", environment={}) == settings


def test_files_that_are_none(tmp_path: Path) -> None:
    assert "cannot read" in refusal(config=tmp_path / "absent.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("k_hc = = 3")
    assert "not TOML" in refusal(config=broken)


# -------------------------------------------------------------------------------------------- repeats


@pytest.mark.slow
@given(
    preset=st.sampled_from(sorted(PRESETS)),
    k_hc=st.integers(1, 99),
    evaluator=st.sampled_from(["evolve", "reference", "zero-shot"]),
    judges=st.lists(st.text(min_size=1), max_size=3),
    wind=st.one_of(st.text(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.integers(-5, 5),
                   st.lists(st.text())),
)
def test_the_text_repeats_the_run(
    tmp_path_factory: pytest.TempPathFactory, preset: str, k_hc: int, evaluator: str, judges: list[str], wind: JSON
) -> None:
    flags: dict[str, JSON] = {"preset": preset, "evaluator": evaluator}
    if evaluator == "evolve" and judges:
        flags["judges"] = [*judges]
    first = build_settings(
        {"domain": "toy", "k_hc": k_hc, **flags}, environment={}
    ).model_copy(update={"options": {"horizon": 5, "wind": wind}})
    config = tmp_path_factory.mktemp("settings") / "again.toml"
    config.write_text(first.as_toml(), encoding="utf-8")
    assert build_settings({}, config=config, environment={}) == first


def test_the_text_names_only_what_has_an_effect() -> None:
    values = tomllib.loads(build({"evaluator": "reference"}).as_toml())
    assert "evaluator_pool" not in values
    assert "k_hc" in values


def test_json_settings_build_the_same_settings() -> None:
    settings = build({"judges": ["offline"]})
    assert Settings.model_validate(settings.as_json()) == settings


# -------------------------------------------------------------------------------------------- methods


def test_every_method_has_a_keeper_and_every_keeper_is_listed() -> None:
    assert set(METHODS) == set(KEEPERS)


FIELDS = sorted({*Settings.model_fields} - {
    "domain", "method", "evaluator", "preset", "options", "parameters", *TABLES, "replay", "replay_loosely"
})
CALLS = [f"{table}.{role}.{name}" for table, name in (("budget", "calls"), ("sampling", "temperature"))
         for role in ROLES]
SWITCHES = ({}, {"proposer_turns": 2}, {"gate": "on"}, {"critic": "openai:m"}, {"budget_episodes": 900},
            {"memory_detail": "full"}, {"evaluator_attacks": 2, "evaluator_tests": "on"},
            {"proposer_turns": 2, "gate": "on", "critic": "openai:m"})
WHERE_NONE: Mapping[str, JSON] = {
    "judges": ["openai:m"], "env": ["MY_SIM"], "salt": "none", "initial": "p.py", "prompts": "folder",
    "exploits": "folder",
}


def given_value(key: str, run: Settings) -> JSON:
    """A value that a user might give: on for what is off, something for nothing, else that of the run."""
    value = run.as_json().get(key)
    if value is False:
        return True
    if value in (None, []):
        model = key == "critic" or key.endswith("_model")
        return WHERE_NONE.get(key, "openai:m" if model else 900 if key in FIELDS else 1)
    return "on" if value == "off" else value


def found(key: str, text: str) -> JSON:
    """The value of a setting in a settings text; None if it is not there."""
    value: JSON = tomllib.loads(text)
    for part in key.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def test_every_setting_names_its_group() -> None:
    used = {groups.of_field(field).name for field in Settings.model_fields.values()}
    assert used == {*groups.GROUPS}, "and every group has a setting"


@pytest.mark.slow
@given(
    method=st.sampled_from(sorted(METHODS)), evaluator=st.sampled_from(["evolve", "reference", "zero-shot", "/e.py"]),
    preset=st.sampled_from(["paper", "quick"]), switches=st.sampled_from(SWITCHES),
    key=st.sampled_from([*FIELDS, *CALLS]),
)
@settings(max_examples=200)
def test_a_setting_is_refused_where_the_text_of_the_run_leaves_it_out(
    method: str, evaluator: str, preset: str, switches: Mapping[str, JSON], key: str
) -> None:
    """What has an effect is decided in one place: for what is given, and for what is written."""
    flags: dict[str, JSON] = {"method": method, "evaluator": evaluator, "preset": preset}
    assume(key not in switches)
    made = {name: value for name, value in switches.items() if fits(name, method, evaluator)}
    with patch.object(building, "refuse_gate_without_twin"), patch.object(building, "refuse_robust_without_conditions"):
        try:
            run = build({**flags, **made})
        except UsageError:  # the preset has turned off what a switch needs
            assume(False)
        try:
            other = build({**flags, **made, key: given_value(key, run)})
        except UsageError as error:
            assert f"'{key}' has no effect" in str(error)
            assert found(key, run.as_toml()) in (None, False), "a flag that is off may stand there"
        else:
            assert found(key, other.as_toml()) is not None


@pytest.mark.parametrize("key", ["racing", "speculation"])
def test_a_flag_may_be_off_where_it_would_have_no_effect(key: str) -> None:
    on_together: dict[str, JSON] = {"preset": "paper", "memory_detail": "full", "budget_episodes": 900}
    assert f"{key} = false" in build(on_together).as_toml(), "a preset turns it on"
    assert build({**on_together, key: False}) == build(on_together)
    assert f"'{key}' has no effect" in refusal({**on_together, key: True})


def test_an_assignment_keeps_everything_after_the_first_equals_sign() -> None:
    assert parse_assignments(["toy.wind=a=b"])["toy.wind"].value == "a=b"


# --------------------------------------------------------------------------------------------- search


def test_the_memory_may_stand_as_a_table(tmp_path: Path) -> None:
    config = tmp_path / "s.toml"
    config.write_text('[memory]\ndetail = "full"\nscope = "run"\n')
    settings = build(config=config)
    assert (settings.memory_detail, settings.memory_scope) == ("full", "run")
    assert build(sets=("memory.scope=run",)).memory_scope == "run"
    assert "memory_detail" in refusal(sets=("memory.detail=whole",))
    assert build().feedback == "stories"
    assert "'feedback' has no effect" in refusal({"method": "random"}, sets=("feedback=metrics",))
    assert "'memory_scope' has no effect" in refusal({"method": "eureka"}, sets=("memory.scope=run",))


def test_islands_need_climbs_and_exclude_what_has_no_effect_with_them() -> None:
    assert (build().islands, build().stop_when) == (1, "saturated")
    shared = build(sets=("islands=4", "island_dealing=ucb"))
    assert (shared.islands, shared.island_dealing, shared.stop_when) == (4, "ucb", "never")
    assert build(sets=("islands=2", "stop_when=never")).stop_when == "never"
    assert "'stop_when' has no effect with islands" in refusal(sets=("islands=2", "stop_when=saturated"))
    assert "'island_dealing' has no effect with one island" in refusal(sets=("island_dealing=ucb",))
    assert "'islands' has no effect with the method 'eureka'" in refusal({"method": "eureka"}, sets=("islands=2",))
    assert "islands = 5 share k_hc = 4 climbs" in refusal(sets=("islands=5",))
    assert refusal(sets=("islands=0",))


def test_what_an_evaluator_that_moves_needs_and_excludes() -> None:
    assert build().evaluator_every == 0 and build(sets=("evaluator_every=2",)).evaluator_every == 2
    assert not build(sets=("evaluator_every=2",)).racing
    for key, more, words in (
        ("racing", "racing=true", "with evaluator_every, which needs every f_e of a candidate"),
        ("evaluator_every", "islands=2", "with islands"),
        ("evaluator_every", "gate=on", "with a gate"),
    ):
        assert f"'{key}' has no effect {words}" in refusal(sets=("evaluator_every=2", more))
    looked = refusal({"critic": "openai:m"}, sets=("evaluator_every=2", "critic_judges=on"))
    assert "'critic_judges' has no effect with evaluator_every" in looked
    for evaluator in ("reference", "zero-shot", "mine.py"):
        said = refusal({"evaluator": evaluator}, sets=("evaluator_every=2",))
        assert "'evaluator_every' has no effect with the evaluator" in said
    assert "with the method 'eureka'" in refusal({"method": "eureka"}, sets=("evaluator_every=2",))


def test_a_front_needs_every_fitness_so_nothing_is_raced() -> None:
    assert build().racing
    assert not build(sets=("partners=front",)).racing
    said = refusal(sets=("partners=front", "racing=true"))
    assert "'racing' has no effect with partners = 'front'" in said
    assert "'partners' has no effect with the method 'hill-only'" in refusal(
        {"method": "hill-only"}, sets=("partners=front",)
    )
    assert build(sets=("memory.scope=until-changed",)).memory_scope == "until-changed"


def test_challenges_of_all_islands_have_room_in_a_budget_of_episodes() -> None:
    one, four = (build({"budget_episodes": 300}, sets=(f"islands={count}",)) for count in (1, 4))
    assert one.confirm_episodes >= four.confirm_episodes > 0
    assert one.n_roll >= four.n_roll
    assert "has no room" in refusal({"budget_episodes": 60}, sets=("islands=4", "confirm_episodes=7"))


def test_a_full_memory_has_no_speculation() -> None:
    paper = build({"preset": "paper"})
    assert (paper.speculation, paper.duplicates, paper.memory_detail, paper.memory_scope) == (
        True, True, "summary", "generation"
    )
    full = build({"preset": "paper", "memory_detail": "full"})
    assert not full.speculation
    said = refusal({"memory_detail": "full"}, sets=("speculation=true",))
    assert "'speculation' has no effect" in said
    assert "--set" in said


def test_a_run_from_before_these_savings_continues_without_them() -> None:
    old = {key: value for key, value in build({"preset": "paper"}).as_json().items()
           if key not in ("duplicates", "speculation", "memory_detail", "memory_scope")}
    settings = Settings.model_validate(old)
    assert not settings.duplicates
    assert not settings.speculation


def test_zero_shot_has_one_round() -> None:
    settings = build({"method": "zero-shot", "preset": "paper"})
    assert (settings.generations, settings.k) == (1, 24)
    assert "'generations' has no effect" in refusal({"method": "zero-shot"}, sets=("generations=3",))


def test_revolve_uses_every_fitness_so_that_racing_is_refused() -> None:
    assert "'racing' has no effect" in refusal({"method": "revolve"}, sets=("racing=true",))


@pytest.mark.parametrize("method", sorted({*METHODS} - {"cma-es", "calibrate"}))
def test_every_method_has_the_same_budget_by_default(method: str) -> None:
    settings = build({"method": method, "preset": "paper"})
    slots = sum(branch.slots for branch in branches_of(settings.as_json()))
    assert slots == 24
    assert slots_of(settings).hill_climb + slots_of(settings).macro + slots_of(settings).crossover == 24
