"""An attack on the question for trust: folders and files of every kind, each changed in one way, may do nothing."""

import asyncio
import json
import lzma
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from memento.app import replay_settings, resume
from memento.app.budgets import models_of
from memento.app.recorded_runs import export_tape
from memento.app.rendering import of_run
from memento.app.trust import sign_run
from memento.cli import exit_code
from memento.cli.comparison_plan import Changes, plan
from memento.cli.new_run import RunArguments, _built
from memento.core.errors import StoreError, UsageError
from memento.core.events import RULES, RunStarted, StageEntered
from memento.core.values import JSON
from memento.evidence.experiment import build_experiment
from memento.evidence.folder import PLAN, ComparisonFolder
from memento.extensions.rl.log import BaselineLog
from memento.extensions.rl.run import begin, work
from memento.extensions.rl.settings import BaselineArguments, build
from memento.memory.origin import SIGNATURE
from memento.memory.runs import DATABASE
from memento.memory.store import RunStore
from memento.runtime.clock import SystemClock
from memento.settings import build_settings, recorded_settings

from ..conformance.store import StoppedClock

EVIL = "evil_at_the_door"
HERE = "compatible:lab@http://127.0.0.1:1/v1#m"
THERE = "compatible:lab@http://127.0.0.1:2/evil#m"      # of the same name
NOTHING = Changes(domains=(), methods=(), models=(), seeds=None, preset=None, evaluator=None, initial=None,
                  episodes=None, settings={})
REFUSED = "--trust|does not know|damaged|newer|not UTF-8|there is no module"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An own state folder, a key, and a module and a program that leave a mark where they are imported or started."""
    (tmp_path / "here").mkdir()
    mark = f"from pathlib import Path\nPath({str(tmp_path / 'mark')!r}).touch()\nDOMAIN = None\n"
    (tmp_path / f"{EVIL}.py").write_text(mark)
    player = tmp_path / "player"
    player.write_text(f"#!/bin/sh\ntouch {tmp_path / 'mark'}\n")
    player.chmod(0o755)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LAB_API_KEY", "planted")
    monkeypatch.chdir(tmp_path / "here")
    yield tmp_path
    assert not (tmp_path / "mark").exists(), "something was imported or started"
    assert EVIL not in sys.modules


def honest(**changed: JSON) -> dict[str, JSON]:
    given = {"domain": "hanoi-kinematic", "preset": "smoke"}
    return {**build_settings(given, environment={}).as_json(), **changed}


def run_of(folder: Path, settings: Mapping[str, JSON], *, done: bool = False) -> Path:
    """A run as this installation writes it: its first fact, and the signature of it."""
    folder.mkdir()
    with RunStore.create(folder, clock=StoppedClock()) as store:
        started = RunStarted(settings=settings, versions={}, rules=RULES)
        store.append([started, *([StageEntered(stage="done")] if done else [])])
    sign_run(folder, started)
    return folder


def change(folder: Path, do: Callable[[dict[str, Any]], object]) -> None:
    """Change the body of the first fact in the database."""
    with sqlite3.connect(folder / DATABASE) as db:
        (body,) = db.execute("SELECT body FROM facts WHERE kind = 'RunStarted'").fetchone()
        content = json.loads(body)
        do(content)
        db.execute("UPDATE facts SET body = ? WHERE kind = 'RunStarted'", [json.dumps(content)])


def add(folder: Path, kind: str, content: object) -> None:
    """Add a row to the log."""
    with sqlite3.connect(folder / DATABASE) as db:
        columns = [row[1] for row in db.execute("PRAGMA table_info(facts)")]
        last = dict(zip(columns, db.execute("SELECT * FROM facts ORDER BY seq DESC LIMIT 1").fetchone(), strict=True))
        row = {**last, "seq": last["seq"] + 1, "kind": kind, "body": json.dumps(content)}
        marks = ", ".join("?" for _ in row)
        db.execute(f"INSERT INTO facts ({', '.join(row)}) VALUES ({marks})", [*row.values()])


def settings(**values: JSON) -> Callable[[Path], object]:
    return lambda folder: change(folder, lambda content: content["settings"].update(values))


def resumed(**budgets: JSON) -> Callable[[Path], object]:
    return lambda folder: add(folder, "RunResumed", {"budgets": budgets, "sandbox": None})


def begins_twice(folder: Path) -> None:
    add(folder, "RunStarted", {"settings": honest(domain=f"{EVIL}:DOMAIN"), "versions": {}})


def is_another(folder: Path) -> None:
    """The folder is a link to a run of elsewhere, and the signature a link to that of an own run."""
    own = folder.rename(folder.with_name("own"))
    other = shutil.copytree(own, folder.with_name("other"))
    settings(domain=f"{EVIL}:DOMAIN")(other)
    (other / SIGNATURE).unlink()
    (other / SIGNATURE).symlink_to(own / SIGNATURE)
    folder.symlink_to(other)


def is_signed_by(path: str) -> Callable[[Path], None]:
    def attack(folder: Path) -> None:
        settings(domain=f"{EVIL}:DOMAIN")(folder)
        (folder / SIGNATURE).unlink()
        (folder / SIGNATURE).symlink_to(path)

    return attack


def has_a_huge_signature(folder: Path) -> None:
    settings(domain=f"{EVIL}:DOMAIN")(folder)
    (folder / SIGNATURE).write_bytes(b"\xff" * 10_000_000)


def is_signed_with_another_secret(folder: Path) -> None:
    (folder.parent / "state" / "memento" / "secret").write_text("0" * 64)
    settings(domain=f"{EVIL}:DOMAIN")(folder)


UNICODE = [
    "\uff45vil_at_the_door:DOMAIN", f"{EVIL}\u200b:DOMAIN", f"{EVIL}:D\u041eMAIN", f" {EVIL}:DOMAIN",
    f"{EVIL}:DOMAIN\n",
    f"hanoi\u202e:{EVIL}", "HANOI:kinematic", f"gym\uff1a{EVIL}", f"robosuite.{EVIL}:DOMAIN", f"kitchen.{EVIL}:DOMAIN",
    f"memento.domains.gym:{EVIL}", f"memento.domains.hanoi.{EVIL}:DOMAIN", "os:system", "ﬀ:x",
]
RUNS: dict[str, Callable[[Path], object]] = {
    "another domain": settings(domain=f"{EVIL}:DOMAIN"),
    "a gym id": settings(domain=f"gym:{EVIL}:Env-v0", options={}),
    "a player": settings(domain="kitchen", options={"backend": "unity", "unity_build": "../player"}),
    "an interpreter": settings(domain="gym:CartPole-v1", options={"python": "../player"}),
    "a known id": settings(domain="gym:CartPole-v1", options={"description": json.dumps({"id": f"{EVIL}:E-v0"})}),
    "a cell": settings(
        domain="memento.extensions.cell.domain:DOMAIN", options={"cell": {"arm": {"kind": f"{EVIL}:make"}}}
    ),
    "an older version": lambda folder: change(
        folder, lambda content: content.update(settings={
            **{key: value for key, value in content["settings"].items() if key not in ("reply", "probes", "feedback")},
            "domain": f"{EVIL}:DOMAIN",
        })
    ),
    "a newer version": settings(domain=f"{EVIL}:DOMAIN", planet="mars"),
    "a newer value": settings(domain=f"{EVIL}:DOMAIN", reply="patchX"),
    "a list for a name": settings(domain=[f"{EVIL}:DOMAIN"]),
    "two beginnings": begins_twice,
    "a link": is_another,
    "a signature without end": is_signed_by("/dev/zero"),
    "a signature that is a folder": is_signed_by("."),
    "a signature that is a loop": is_signed_by(SIGNATURE),
    "a huge signature": has_a_huge_signature,
    "another secret": is_signed_with_another_secret,
    **{f"unusual {name!a}": settings(domain=name) for name in UNICODE},
    **{f"resumed with {key}": resumed(**{key: value}) for key, value in {
        "domain": f"{EVIL}:DOMAIN", "model": THERE, "evaluator_model": THERE, "judges": [THERE], "critic": THERE,
        "prompts": "/etc", "initial": "/etc/passwd", "evaluator": "/etc/passwd", "options": {"python": "../player"},
        "replay": "elsewhere", "workers": 256, "budget_episodes": 9, "sampling.total_s": 9, "prices": {},
        "budget_calls ": 3, "BUDGET_CALLS": 3, "budget.nobody.calls": 3, "budget_model": THERE, "\uff42udget_calls": 3,
    }.items()},
}
MODELS: dict[str, Callable[[Path], object]] = {     # only a resume would ask them
    "another model": settings(model=THERE), "another writer": settings(evaluator_model=THERE),
    "another judge": settings(judges=[THERE]), "another critic": settings(critic=THERE),
    "two of one name": settings(model=HERE, judges=[THERE]), "one after the other": settings(model=f"offline,{THERE}"),
    "an environment's URL": settings(model="openai:gpt-5.2"),
}


def _resume(folder: Path) -> None:
    asyncio.run(resume(folder, display=None, workers=None))     # type: ignore[arg-type]  # it never opens one


def _replay(folder: Path) -> None:
    with RunStore.open(folder, clock=StoppedClock()) as store:
        store.append([StageEntered(stage="done")])
    recorded = replay_settings(folder)
    assert recorded.domain == "hanoi-kinematic" and not recorded.provenance.trusted, "it repeats what was signed"
    raise UsageError("--trust: a replay takes the settings of the beginning alone")


def _render(folder: Path) -> None:
    of_run(folder, "p_0", index=0, seed=None, flags={}, assignments=())


@pytest.mark.parametrize("attack", [*RUNS, *MODELS])
def test_a_changed_run_is_not_continued(attack: str, place: Path) -> None:
    folder = run_of(place / "one", honest())
    {**RUNS, **MODELS}[attack](folder)
    with pytest.raises((UsageError, StoreError), match=REFUSED) as refused:
        _resume(folder)
    assert len(str(refused.value).splitlines()) == 1
    if attack == "two of one name":
        assert "127.0.0.1:1/v1" in str(refused.value) and "127.0.0.1:2/evil" in str(refused.value)


@pytest.mark.parametrize("attack", [name for name in RUNS if not name.startswith("resumed with")])
def test_a_changed_run_is_not_repeated_or_drawn(attack: str, place: Path) -> None:
    folder = run_of(place / "one", honest())
    RUNS[attack](folder)
    with pytest.raises((UsageError, StoreError), match=REFUSED):
        _render(folder)
    if attack != "two beginnings":      # a replay takes the first, which is the signed one
        with pytest.raises((UsageError, StoreError), match=REFUSED):
            _replay(folder)


def test_a_text_that_was_swapped_changes_no_setting(place: Path) -> None:
    """A log names its texts by their digests: another text under one is damage, and settings are no texts."""
    folder = run_of(place / "one", honest(domain=f"{EVIL}:DOMAIN"))
    with sqlite3.connect(folder / DATABASE) as db:
        assert not [row for row in db.execute("SELECT * FROM blobs") if EVIL in str(row)]


def test_an_own_run_needs_no_trust_and_a_foreign_one_only_where_it_does_something(place: Path) -> None:
    for domain, signed in (("hanoi-kinematic", True), ("hanoi-kinematic", False)):
        folder = run_of(place / f"{domain}-{signed}", honest(domain=domain), done=True)
        if not signed:
            (folder / SIGNATURE).unlink()
        found = replay_settings(folder)
        assert found.provenance.trusted == signed


# ------------------------------------------------------------------------------------------------------------ tapes


def tape_of_run(place: Path, **changed: JSON) -> Path:
    folder = run_of(place / "one", honest(**changed), done=True)
    export_tape(folder, place / "one.tape.xz")
    return place / "one.tape.xz"


def test_a_tape_of_ones_own_run_needs_no_trust(place: Path) -> None:
    tape = tape_of_run(place, domain=f"{EVIL}:DOMAIN")
    assert replay_settings(tape).provenance.trusted
    assert replay_settings(Path(shutil.copy(tape, place / "copy.tape.xz"))).provenance.trusted


@pytest.mark.parametrize("attack", [
    "unsigned", "settings", "text", "another's signature", "a number", "of a foreign run"
])
def test_a_changed_tape_is_not_repeated(attack: str, place: Path) -> None:
    if attack == "of a foreign run":
        folder = run_of(place / "two", honest(domain=f"{EVIL}:DOMAIN"), done=True)
        (folder / SIGNATURE).unlink()
        export_tape(folder, place / "one.tape.xz")
        tape = place / "one.tape.xz"
    else:
        tape = tape_of_run(place, **({} if attack == "settings" else {"domain": f"{EVIL}:DOMAIN"}))
        content = json.loads(lzma.decompress(tape.read_bytes()))
        if attack == "settings":
            content["facts"][0][2] = content["facts"][0][2].replace("hanoi-kinematic", f"{EVIL}:DOMAIN")
        elif attack == "text":
            content["texts"]["0" * 64] = "x"
        else:
            content["origin"] = {"unsigned": None, "another's signature": "é" * 64, "a number": 7}[attack]
        tape.write_bytes(lzma.compress(json.dumps(content).encode()))
    with pytest.raises(UsageError, match=r"--trust|damaged"):
        replay_settings(tape)


# ------------------------------------------------------------------------------------------------------ comparisons


def compared(place: Path) -> ComparisonFolder:
    given = {"title": "t", "domains": ["hanoi-kinematic"], "methods": ["memento", "random"], "seeds": "1",
             "preset": "smoke", "measures": [{"name": "Cube", "episodes": 2}]}
    folder = ComparisonFolder(place / "compared")
    folder.write_plan(build_experiment(given, name="compared", origin="a test"), own=True)
    return folder


def first(key: str, **values: Any) -> Callable[[dict[str, Any]], object]:
    return lambda table: table[key][0].update(values)


COMPARISONS: dict[str, Callable[[dict[str, Any]], object]] = {
    "a domain": first("tasks", domain=f"{EVIL}:DOMAIN"),
    "a gym id": first("tasks", domain=f"gym:{EVIL}:E-v0"),
    "a player": first("tasks", domain="kitchen", options={"backend": "unity", "unity_build": "../player"}),
    "an interpreter": first("tasks", domain="gym:CartPole-v1", options={"python": "../player"}),
    "an interpreter of an arm": lambda table: (
        first("tasks", domain="gym:CartPole-v1")(table), first("arms", options={"python": "../player"})(table)
    ),
    "a player of a measure": lambda table: (
        first("tasks", domain="kitchen")(table), first("measures", options={"unity_build": "../player"})(table)
    ),
    "a model": lambda table: table.update(models=[THERE]),
    "a model of all": lambda table: table["settings"].update(evaluator_model=THERE),
    "judges of an arm": first("arms", settings={"judges": [HERE, THERE]}),
    "a critic": first("arms", settings={"critic": THERE}),
    "an evaluator": lambda table: table.update(evaluator="/etc/passwd"),
    "an evaluator of an arm": first("arms", evaluator="/etc/passwd"),
    "a policy": lambda table: table.update(initial="/etc/passwd"),
    "prompts": lambda table: table["settings"].update(prompts="/etc"),
    "a learned arm": lambda table: (
        first("tasks", domain=f"{EVIL}:DOMAIN")(table), first("arms", method="sac-her", settings={"steps": 9})(table)
    ),
}


@pytest.mark.parametrize("attack", COMPARISONS)
def test_a_changed_comparison_is_not_carried_out(attack: str, place: Path) -> None:
    folder = compared(place)
    path = folder.path / PLAN
    held = json.loads(path.read_text())
    COMPARISONS[attack](held["experiment"])
    path.write_text(json.dumps(held))
    with pytest.raises(UsageError, match=r"did not write the comparison 'compared', which would .*--trust"):
        plan(str(folder.path), NOTHING, runs_dir=place, name=None)


def test_ones_own_comparison_needs_no_trust(place: Path) -> None:
    folder = compared(place)
    held = replace(folder.plan(), models=(HERE,))
    folder.write_plan(held, own=True)
    planned = plan(str(folder.path), NOTHING, runs_dir=place, name=None)
    assert planned.own and all(each.provenance.trusted for each in planned.settings.values())
    folder.write_plan(held, own=False)
    assert planned.own and folder.is_own, "the same plan is still the signed one"
    (folder.path / SIGNATURE).unlink()
    with pytest.raises(UsageError, match=r"127\.0\.0\.1:1/v1"):
        plan(str(folder.path), NOTHING, runs_dir=place, name=None)
    trusted = plan(str(folder.path), NOTHING, runs_dir=place, name=None, trusted=True)
    assert not trusted.own, "to trust a plan once does not make it one's own"
    assert {models_of(each)["proposer"] for each in trusted.settings.values()} == {(HERE,)}


# -------------------------------------------------------------------------------------------------------- baselines


@pytest.mark.parametrize("attack", ["domain", "gym id", "interpreter", "training", "not signed"])
def test_a_changed_baseline_is_not_continued(attack: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memento.extensions.rl.run.require", lambda *_: None)       # as where the extra is installed
    given = build(BaselineArguments(domain="hanoi-kinematic", steps=5000, seed=3, salt="none", flags={}))
    folder = begin(given, place, "trained", SystemClock())
    values = json.loads((folder / "baseline.jsonl").read_text().splitlines()[0])
    values["settings"] |= {
        "domain": {"domain": f"{EVIL}:DOMAIN"},
        "gym id": {"domain": f"gym:{EVIL}:E-v0"},
        "interpreter": {"domain": "gym:CartPole-v1", "options": {"python": "../player"}},
        "training": {"domain": "gym:CartPole-v1", "training": {"description": json.dumps({"id": f"{EVIL}:E-v0"})}},
        "not signed": {"domain": f"{EVIL}:DOMAIN"},
    }[attack]
    (folder / "baseline.jsonl").write_text(json.dumps(values) + "\n")
    BaselineLog(folder).add("planned", {"steps": 9})
    if attack == "not signed":
        (folder / SIGNATURE).unlink()
    with pytest.raises(UsageError, match="--trust"):
        work(folder, SystemClock(), report=print, play=print, stopped=lambda: True)


# ------------------------------------------------------------------------------------------------ files of settings


@pytest.mark.parametrize("line", [
    f'domain = "{EVIL}:DOMAIN"', f'domain = "gym:{EVIL}:E-v0"', f'domain = "hanoi-kinematic"\nmodel = "{THERE}"',
    f'domain = "hanoi-kinematic"\njudges = ["{THERE}"]', 'domain = "hanoi-kinematic"\nprompts = "texts"',
    'domain = "hanoi-kinematic"\ninitial = "p0.py"', 'domain = "hanoi-kinematic"\nevaluator = "e.py"',
    'domain = "kitchen"\n[kitchen]\nbackend = "unity"\nunity_build = "../player"',
])
def test_a_file_of_settings_outside_this_folder_does_nothing(line: str, place: Path) -> None:
    for file in (place / "settings.toml", place / "here" / "link.toml"):
        (place / "settings.toml").write_text(line)
        if not file.exists():
            file.symlink_to(place / "settings.toml")
        with pytest.raises(UsageError, match="--trust"):
            _built(RunArguments(flags={}, assignments=(), config=file), trust=False)


def test_what_the_person_names_is_not_asked_for_again(place: Path) -> None:
    (place / "settings.toml").write_text("generations = 3\n")
    flags: dict[str, JSON] = {"domain": "hanoi-kinematic", "model": HERE, "preset": "smoke"}
    given = RunArguments(flags=flags, assignments=(), config=place / "settings.toml")
    assert _built(given, trust=False).provenance.trusted
    (place / "settings.toml").write_text(f'critic = "{THERE}"\n')
    with pytest.raises(UsageError, match=r"127\.0\.0\.1:2/evil"):
        _built(given, trust=False)
    assert _built(given, trust=True).critic == THERE
    (place / "here" / "own.toml").write_text(f'critic = "{THERE}"\n')
    assert _built(replace(given, config=place / "here" / "own.toml"), trust=False).critic == THERE


def test_settings_that_were_read_are_of_unknown_provenance() -> None:
    """What forgets to ask for trust is refused where the effect is."""
    found = recorded_settings(honest())
    assert not found.provenance.trusted and not found.model_copy(update={"seed": 3}).provenance.trusted


# ------------------------------------------------------------------------------------- settings of another version


@pytest.mark.parametrize("arguments", [
    ("show", "one", "--settings"), ("report", "one"), ("resume", "one"), ("render", "one", "--out", "a.png"),
    ("run", "--replay", "one"), ("hint", "one", "go on"), ("show", "one"), ("export", "one"), ("stop", "one"),
    ("rank", "one"),
], ids=" ".join)
@pytest.mark.parametrize("values", [{"reply": "patchX"}, {"planet": "mars"}, {"n_roll": "three"}], ids=str)
def test_a_setting_that_this_version_does_not_know_is_one_sentence(
    arguments: tuple[str, ...], values: dict[str, JSON], place: Path, capsys: pytest.CaptureFixture[str],
) -> None:
    (place / "here" / "runs").mkdir()
    run_of(place / "here" / "runs" / "one", honest(**values), done=arguments[0] in ("run", "render"))
    code = exit_code([*arguments])
    said = capsys.readouterr()
    assert "Traceback" not in said.err and "pydantic" not in said.err
    assert code in (0, 2, 3)
    if code:
        assert len(said.err.strip().splitlines()) == 1, said.err


def test_far_more_workers_than_processors_need_a_yes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memento.settings.usable_cpus", lambda: 2)
    for command in (("run", "hanoi-kinematic"), ("evaluate", "p.py", "--domain", "hanoi"), ("resume", "one")):
        assert exit_code([*command, "--workers", "255"]) == 2
        assert "add --yes" in capsys.readouterr().err
