"""A learned baseline as an arm of a comparison: what it is planned to do, and one comparison with it."""

import json
import subprocess
from pathlib import Path

import pytest
from memento.core.errors import UsageError
from memento.core.extras import missing_modules
from memento.evidence.experiment import is_learned, leader_of, parse_experiment
from memento.evidence.folder import ComparisonFolder
from memento.evidence.loading import load_comparison
from memento.evidence.plan import check, list_jobs, measure_seed
from memento.evidence.scheduling import units_of
from memento.extensions.rl.arm import given_of, training_arguments
from memento.extensions.rl.log import BaselineLog, TrainingProgress
from memento.extensions.rl.settings import build

from ...support.program import PROGRAM

ARM = '[[arms]]\nmethod = "sac-her"\nset = { %s }\n'
REST = '[[arms]]\nmethod = "random"\n[[measures]]\nname = "other"\nepisodes = 3\noptions = { variant = "cylinder" }\n'
MEASURE = '[[measures]]\nname = "unseen"\nepisodes = 2\n'
SET = 'steps = 600, reward = "dense", environments = 3, sac.batch = 16'


def experiment(settings: str = SET, *, domain: str = "hanoi", rest: str = REST + MEASURE, head: str = ""):
    text = f'domains = ["{domain}"]\nseeds = "1-2"\npreset = "smoke"\nevaluator = "reference"\n{head}'
    return parse_experiment(text + ARM % settings + rest, name="mine", origin="mine")


def test_a_training_gets_the_task_and_the_unseen_episodes_of_the_searches():
    planned = experiment(head='models = ["offline", "echo"]\n')
    jobs = [job for job in list_jobs(planned) if is_learned(job.arm)]
    assert [job.seed for job in jobs] == [1, 2], "one for each seed, not for each model"
    assert leader_of(planned).name == "random"
    assert [unit.measure for unit in units_of(planned, jobs, measure=True)] == [None, None]
    planned = experiment()
    learned = next(job for job in list_jobs(planned) if is_learned(job.arm))
    search = next(job for job in list_jobs(planned) if job.arm.name == "random" and job.seed == learned.seed)
    assert learned.leads and learned.beginning != search.beginning
    settings = build(given_of(planned, learned))
    unseen = next(measure for measure in planned.measures if measure.name == "unseen")
    assert settings.options == check(planned)[search.name].options
    assert (settings.measure_seed, settings.episodes) == (measure_seed(search, unseen), 2)
    assert settings.training == {**settings.options, "physics": "fast"}
    assert (settings.reward, settings.steps, settings.environments, settings.hyper.batch) == ("dense", 600, 3, 16)
    arguments = training_arguments(planned, learned, runs=Path("runs"))
    assert arguments[:3] == ["baseline", "sac-her", "--json"]
    assert arguments[arguments.index("--steps") + 1] == "600"
    assert "--evaluate-every" not in arguments and settings.evaluate_every == 60
    often = experiment(f"{SET}, evaluate_every = 200")
    arguments = training_arguments(often, next(job for job in list_jobs(often) if is_learned(job.arm)), runs=Path("r"))
    assert arguments[arguments.index("--evaluate-every") + 1] == "200"


@pytest.mark.parametrize(("settings", "rest", "problem"), [
    ("reward = 'dense'", REST + MEASURE, "steps is missing"),
    ("steps = 'many'", REST + MEASURE, "steps is a whole number"),
    ("steps = 10, sac.bach = 2", REST + MEASURE, "unknown hyperparameter 'bach'"),
    ("steps = 10, k_hc = 2", REST + MEASURE, "unknown setting 'k_hc'"),
    ("steps = 10", REST, "add a measure without options"),
])
def test_what_cannot_be_trained_is_refused_before_anything_runs(settings: str, rest: str, problem: str):
    planned = experiment(settings, rest=rest)
    with pytest.raises(UsageError, match=problem):
        build(given_of(planned, next(job for job in list_jobs(planned) if is_learned(job.arm))))


def test_a_comparison_needs_a_search():
    with pytest.raises(UsageError, match="compares no search"):
        experiment(rest=MEASURE)


def test_the_page_of_a_comparison_has_the_row_of_a_training_that_is_under_way(tmp_path: Path):
    planned = experiment(domain="hanoi-kinematic", rest=MEASURE + '[[arms]]\nmethod = "random"\n')
    folder = ComparisonFolder(tmp_path / "mine")
    folder.write_plan(planned)
    job = next(job for job in list_jobs(planned) if is_learned(job.arm))
    path = folder.run_of(job)
    path.mkdir()
    log = BaselineLog(path)
    log.add("started", {"settings": build(given_of(planned, job)).as_json(), "versions": {}})
    log.progress(TrainingProgress(steps=300, updates=9, episodes=4, wall_s=2.0, cpu_s=3600.0, mean_return=-1.0,
    success=0.0,
                          reached=0.0))
    row, = load_comparison(folder).baselines
    assert (row.method, row.reward, row.steps, row.done, row.environments) == ("sac-her", "dense", 300, False, 3)
    assert row.cpu_hours == 1.0


missing = missing_modules("rl")


@pytest.mark.skipif(bool(missing), reason=f"the extra rl is not installed: {', '.join(missing)} missing")
@pytest.mark.slow
@pytest.mark.timeout(500)
def test_a_comparison_trains_goes_on_after_a_kill_and_counts_the_same_episodes(tmp_path: Path):
    small = 'steps = 900, environments = 3, checkpoint = 150, sac.random_steps = 60, sac.batch = 16, sac.hidden = [16]'
    (tmp_path / "mine.toml").write_text(
        f'domains = ["hanoi-kinematic"]\nseeds = "1"\npreset = "smoke"\nevaluator = "reference"\n{ARM % small}'
        f'[[arms]]\nmethod = "random"\n{MEASURE}'
    )

    def compare(*arguments: str):
        return subprocess.run([*PROGRAM, "compare", *arguments, "--json", "--display", "none"], cwd=tmp_path,
                              capture_output=True, text=True, timeout=240)

    done = compare("mine.toml")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert [(row["arm"], row["done"], row["unseen_success"]["unseen"]["n"]) for row in result["table"]] == [
        ("sac-her", 1, 1), ("random", 1, 1),
    ]
    folder = ComparisonFolder(tmp_path / "runs" / "mine")
    seeds = {tuple(each["seed"] for each in found.episodes) for found in folder.measures().values()}
    assert len(seeds) == 1
    log = folder.runs / "hanoi-kinematic--sac-her--s1" / "baseline.jsonl"
    lines = [line for line in log.read_text().splitlines(keepends=True) if '"measured"' not in line]
    log.write_text("".join(lines))      # as if it had been killed before its last line
    (folder.path / "measures.jsonl").unlink()
    again = compare("mine")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout.splitlines()[-1])["table"] == result["table"]
    row, = load_comparison(folder).baselines
    assert (row.steps, row.done, row.episodes) == (900, True, 2)
