"""Experiment files: the included ones can be run, errors name the problem, flags replace values."""

from dataclasses import replace

import pytest
from memento.core.errors import UsageError
from memento.core.extras import is_installed
from memento.core.methods import METHODS, SearchPart, episode_shares
from memento.core.provenance import GIVEN
from memento.domains.kitchen.options import HELD_OUT, TRAINING
from memento.domains.kitchen.recorded import FOLDERS
from memento.evidence.experiment import (
    AS_SEARCHED,
    Arm,
    build_experiment,
    is_learned,
    load_experiment,
    parse_experiment,
    parse_seeds,
    shipped_names,
)
from memento.evidence.plan import (
    Beginning,
    arguments_of,
    candidates_of,
    check,
    list_jobs,
    measure_arguments,
    measure_seed,
    merge,
    run_arguments,
    shared_runs,
    with_flags,
)
from memento.evidence.published_elsewhere import YARDSTICKS

MAIN = {"domains": ["hanoi-kinematic"], "methods": ["memento", "random"], "seeds": "1-2", "preset": "smoke"}


def build(**table):
    return build_experiment({**MAIN, **table}, name="t", origin="t")


def test_the_experiments_of_the_paper_ship():
    paper = {"main", "generalisation", "zero-shot", "evaluator", "operators", "search-scenes", "ladder"}
    assert paper <= set(shipped_names())


PARTS = ("main", "generalisation", "zero-shot", "evaluator", "operators", "search-scenes")


def test_the_parts_of_the_paper_share_their_runs():
    runs = {name: {job.name for job in list_jobs(load_experiment(name))} for name in (*PARTS, "paper")}
    assert sum(len(runs[name]) for name in PARTS) == 18 + 18 + 12 + 12 + 18 + 6
    assert set().union(*(runs[name] for name in PARTS)) == runs["paper"]
    assert len(runs["paper"]) == 45
    assert {load_experiment(name).name for name in PARTS} == {"paper"}, "one comparison holds them"
    assert shared_runs(load_experiment("zero-shot")) == {
        "evaluator": 6, "generalisation": 6, "main": 6, "operators": 6, "search-scenes": 3,
    }


def test_parts_join_in_any_order_to_the_whole():
    joined = load_experiment(PARTS[0])
    for name in PARTS[1:]:
        joined = merge(joined, load_experiment(name))
        assert check(joined)
    whole = load_experiment("paper")
    assert (joined.tasks, joined.arms, joined.measures) == (whole.tasks, whole.arms, whole.measures)
    assert merge(joined, load_experiment("main")) == joined
    with pytest.raises(UsageError, match="preset"):
        merge(joined, replace(load_experiment("main"), preset="quick"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('part_of = "papr"', "papr"),
        ('part_of = "paper"\narms = ["memento", "revolv"]', "mean 'revolve'"),
        ('part_of = "paper"\narms = ["revolve"]', "lacks the arm 'memento'"),
        ('part_of = "paper"\nseeds = "1"', "unknown key 'seeds'"),
    ],
)
def test_what_is_wrong_in_a_part_is_named(text, complaint):
    with pytest.raises(UsageError, match=complaint):
        parse_experiment(text, name="x", origin="x.toml")


PUBLISHED = ("core16", "robosuite")


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_tasks_are_searched_with_128_episodes_by_every_method(name):
    experiment = load_experiment(name)
    domains = {task.domain for task in experiment.tasks}
    [yardstick] = [each for each in YARDSTICKS if {*each.values} == domains]
    assert all(len(values) == len(yardstick.columns) for values in yardstick.values.values())
    installed = [task for task in experiment.tasks if task.domain in ("gym:HalfCheetah-v5", "robosuite:Lift")]
    settings = check(replace(experiment, tasks=tuple(installed)), GIVEN)
    assert len(settings) == len(experiment.arms) * len(experiment.seeds)
    assert {each.budget_episodes for each in settings.values()} == {128}


OPEN = {"open-tasks": 128, "open-tasks-1200": 1200}


@pytest.mark.parametrize("name", OPEN)
def test_open_tasks_are_searched_until_the_budget_of_episodes_ends_the_search(name):
    experiment = load_experiment(name)
    assert (len(experiment.tasks), len(experiment.seeds)) == (8, 10)
    settings = check(replace(experiment, tasks=experiment.tasks[:1]), GIVEN)
    assert len(settings) == len(experiment.arms) * len(experiment.seeds)
    for each in settings.values():
        shares = episode_shares({**each.as_json(), "budget_episodes": None})
        planned = sum(share.most for share in shares if share.purpose != "held out")
        most = 1.6 if each.k_tune else 1.5  # one tuning takes half of a small budget, and leaves the rest to candidates
        assert each.budget_episodes == OPEN[name] and 0.9 * OPEN[name] <= planned <= most * OPEN[name]


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow) if name == "ladder" else name   # it looks at many tasks
    for name in shipped_names() if name not in (*PUBLISHED, *OPEN, "tested-evaluators")
])
def test_every_shipped_experiment_can_be_run_as_it_is(name):
    experiment = load_experiment(name)
    if not is_installed("metaworld"):
        kept = tuple(task for task in experiment.tasks if "Meta-World" not in task.domain)
        experiment = replace(experiment, tasks=kept)
    settings = check(experiment, GIVEN)
    assert len(settings) == len([job for job in list_jobs(experiment) if not is_learned(job.arm)]) > 1
    assert experiment.title
    proposed = [(each, each.generations * each.k_tune) for each in settings.values() if each.method != "zero-shot"]
    budgets = {candidates_of(each) - tuned for each, tuned in proposed}
    assert {each.preset for each in settings.values()} == {"paper"}
    assert budgets == {120}, "all methods have the paper's budget"


def test_the_arms_with_tested_evaluators_differ_in_their_evaluators_alone():
    settings = check(load_experiment("tested-evaluators"), GIVEN)
    by_arm = {name.split("--")[1]: each for name, each in settings.items() if name.endswith("--s1")}
    made = {
        arm: (each.evaluator, each.evaluator_tests, each.evaluator_attacks) for arm, each in by_arm.items()
    }
    assert made["votes-alone"] == ("evolve", "off", 0) and made["tests-and-attacks"] == ("evolve", "on", 3)
    assert made["unevolved-evaluator"][0] == "zero-shot"
    assert len({candidates_of(each) for each in settings.values()}) == 1 and len(settings) == 15


@pytest.mark.parametrize("backend", ["generated", "recorded"])
@pytest.mark.parametrize("name", (*PARTS, "paper"))
def test_the_paper_s_kitchens_can_be_run_on_every_back_end_that_needs_no_unity(name, backend, tmp_path):
    """The 29 kitchens by name alone: what a run would take is checked before any kitchen is read."""
    for folder in FOLDERS:
        (tmp_path / folder).mkdir()
        for number in (*TRAINING, *HELD_OUT):
            (tmp_path / folder / f"FloorPlan{number}.json").write_text("{}")
    chosen = {"kitchen.backend": backend} | (
        {"kitchen.recordings": str(tmp_path)} if backend == "recorded" else {}
    )
    kitchens = with_flags(load_experiment(name), domains=["kitchen"], settings=chosen)
    settings = check(kitchens)
    assert {each.domain for each in settings.values()} == {"kitchen"}
    prefix = "FloorPlan" if backend == "recorded" else "Kitchen"
    for each in settings.values():
        assert each.options["backend"] == backend
        assert all(scene.startswith(prefix) for scene in each.options["scenes"])


def test_no_measure_meets_a_seed_of_another_measure_or_of_another_run():
    jobs = list_jobs(replace(load_experiment("generalisation"), seeds=tuple(range(20))))
    experiment = load_experiment("generalisation")
    first = {(measure_seed(job, measure), measure.name, job.task.name, job.seed)
             for job in jobs for measure in experiment.measures_of(job.task.name, job.arm.name)}
    assert len({seed for seed, *_ in first}) == len(first), "the arms of a seed have the same episodes, others do not"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("domains = [", "not TOML"),
        ("methods = ['memento']", "names no domain"),
        ("domains = ['hanoi']", "names no method"),
        ("domains = ['hanoi']\nmethods = ['memento', 'memento']", "twice"),
        ("domains = 'hanoi'\nmethods = ['memento']", "is not a list"),
        ("domains = ['hanoi']\nmethods = ['memento']\nseeds = '5-2'", "seeds cannot be"),
        ("domains = ['hanoi']\nmethods = ['memento']\nsed = '1'", "did you mean 'seeds'"),
        ("domains = ['hanoi']\nmethods = ['memento']\n[[measures]]\nname = 'x'\nepisodes = 3\nskip = 3", "skip must"),
        ("domains = ['hanoi']\nmethods = ['memento']\n[[measures]]\nname = 'x'\ntasks = ['hanio']", "mean 'hanoi'"),
        ("domains = ['hanoi']\n[[arms]]\nname = 'x'", "method is missing"),
        ("domains = ['hanoi']\nmethods = ['memento']\npreset = 3", "is not a text"),
        ("domains = ['hanoi']\nmethods = ['memento']\n[set]\nevaluator_every = 2", "all arms of a seed share"),
        (
            "domains = ['hanoi']\n[[arms]]\nmethod = 'memento'\nset = { evaluator_every = 2 }",
            "arms with evaluator = .evolve. alone",
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_named(text, complaint):
    with pytest.raises(UsageError, match=complaint):
        parse_experiment(text, name="x", origin="x.toml")


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ({"methods": ["memmento"]}, "unknown method 'memmento'"),
        ({"domains": ["hanio"]}, "hanio"),
        ({"preset": "papr"}, "did you mean 'paper'"),
        ({"set": {"k_hcc": 3}}, "k_hcc"),
        ({"set": {"k_hc": -3}}, "k_hc"),
        ({"methods": ["random", "zero-shot"], "set": {"k_hc": 3}}, "no effect in any arm"),
        ({"measures": [{"name": "m", "options": {"variant": "cylindre"}}]}, "variant"),
        ({"arms": [{"name": "a", "method": "random", "set": {"k_hc": 3}}]}, "no effect"),
    ],
)
def test_what_no_run_would_take_is_refused_before_anything_is_run(table, complaint):
    with pytest.raises(UsageError, match=complaint):
        check(build(**table))


def test_seeds():
    assert parse_seeds("1-3,7", "x") == (1, 2, 3, 7)
    assert parse_seeds([4, 2], "x") == (4, 2)
    assert parse_seeds(5, "x") == (5,)
    for wrong in ("", "a", "3-1", "1-", "1-5000", [-1], [], True, 1.5):
        with pytest.raises(UsageError):
            parse_seeds(wrong, "x")


def test_one_run_leads_each_seed_and_the_others_follow():
    jobs = list_jobs(build(methods=["random", "memento", "eureka"]))
    for seed in (1, 2):
        of_seed = [job for job in jobs if job.seed == seed]
        assert [job.leads for job in of_seed] == [True, False, False]
        assert len({job.beginning for job in of_seed}) == 1
    assert jobs[0].beginning != jobs[3].beginning


def test_nobody_waits_where_everything_is_given():
    jobs = list_jobs(build(initial="p0.py", evaluator="reference"))
    assert all(job.leads for job in jobs)


def test_an_arm_with_an_evaluator_of_its_own_shares_p_0_alone(tmp_path):
    experiment = build(methods=[], arms=[
        {"name": "own", "method": "memento", "evaluator": "zero-shot"}, {"name": "full", "method": "memento"},
    ])
    jobs = list_jobs(experiment)
    leader, follower = jobs[0], jobs[1]
    assert (leader.arm.name, leader.leads, follower.arm.name) == ("full", True, "own")
    begun = Beginning(initial=tmp_path / "p0.py", evaluator=tmp_path / "e.py")
    flags, _ = arguments_of(experiment, follower, begun)
    assert (flags["initial"], flags["evaluator"]) == (str(begun.initial), "zero-shot")
    flags, _ = arguments_of(experiment, leader, None)
    assert "initial" not in flags and flags["evaluator"] == "evolve"


def test_a_changed_budget_is_equal_for_every_method():
    methods = [name for name in METHODS if name not in ("cma-es", "calibrate")]
    experiment = build(methods=methods, set={"k_hc": 3, "k_macro": 2})
    settings = check(experiment, GIVEN)
    assert {each.k for each in settings.values() if SearchPart.SLOTS in METHODS[each.method].parts} == {3 + 2 + 1}
    assert {candidates_of(each) for each in settings.values()} == {6}


def test_settings_reach_the_methods_that_heed_them_only():
    experiment = build(set={"k_hc": 2, "evaluator_judges": 5, "racing": False})
    begun = Beginning(initial="p", evaluator="e")
    words = {}
    for job in list_jobs(experiment):
        _, words[job.name] = arguments_of(experiment, job, None if job.leads else begun)
    assert {"k_hc=2", "evaluator_judges=5", "racing=false"} <= {*words["hanoi-kinematic--memento--s1"]}
    assert {*words["hanoi-kinematic--random--s1"]} == {"k=4", "racing=false", "salt=none"}, "no judges"


def test_options_of_a_task_an_arm_and_a_measure(tmp_path):
    experiment = build(
        domains=[], tasks=[{"name": "five", "domain": "hanoi", "options": {"n_cubes": 5}}], methods=[],
        arms=[{"name": "a", "method": "memento", "options": {"randomisation": "light"}}],
        measures=[{"name": "m", "episodes": 4, "options": {"variant": "cylinder"}}],
    )
    [job, _] = list_jobs(experiment)
    settings = check(experiment, GIVEN)[job.name]
    assert (settings.options["n_cubes"], settings.options["randomisation"]) == (5, "light")
    words = measure_arguments(experiment, job, experiment.measures[0], tmp_path / "p.py", settings.options)
    assert {"options.n_cubes=5", 'options.variant="cylinder"', 'options.randomisation="light"'} <= {*words}
    words = run_arguments(experiment, job, None, runs=tmp_path)
    assert {"options.n_cubes=5", 'options.randomisation="light"'} <= {*words}


def test_names_of_runs_are_fit_for_folders_and_differ():
    experiment = build(models=["offline", "compatible:x@http://localhost:1/v1#a/b", "compatible:x@http://localhost:1/v1#a.b"])
    names = [job.name for job in list_jobs(experiment)]
    assert len({*names}) == len(names) == 2 * 3 * 2
    assert all(len(name) <= 100 and all(c.isalnum() or c in "-._" for c in name) for name in names)


def test_flags_pick_and_replace():
    base = load_experiment("generalisation")
    changed = with_flags(base, domains=["kitchen"], methods=["memento", "random"], seeds="7", episodes=5)
    assert [task.name for task in changed.tasks] == ["kitchen"]
    assert [arm.name for arm in changed.arms] == ["memento", "random"]
    measures = [(measure.name, measure.episodes, measure.skip) for measure in changed.measures]
    assert measures == [("Search scenes", 8, 3), ("Held-out scenes", 5, 0)]
    alone = with_flags(None, domains=["hanoi"], methods=["memento"])
    assert (alone.preset, alone.measures[0].name) == ("quick", AS_SEARCHED)


def test_a_comparison_may_grow_and_may_not_change():
    old = build()
    assert merge(old, build()) == old
    grown = merge(old, build(seeds="1-5", methods=["memento", "random", "eureka"]))
    assert len(list_jobs(grown)) == 15
    assert {job.name for job in list_jobs(old)} <= {job.name for job in list_jobs(grown)}
    for change in ({"preset": "quick"}, {"evaluator": "reference"}, {"seeds": "2-3"}, {"methods": ["memento"]},
                   {"set": {"k_hc": 9}}, {"methods": ["random", "memento"]}, {"models": ["offline", "offline-2"]}):
        with pytest.raises(UsageError):
            merge(old, build(**change))
    with pytest.raises(UsageError, match="already has seed 1, which is now missing or changed: name it as well"):
        merge(old, build(seeds="2-3"))


def test_files_are_found_beside_the_experiment(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'domains = ["hanoi"]\ninitial = "p0.py"\nevaluator = "e.py"\n'
        '[[arms]]\nmethod = "memento"\nevaluator = "own.py"\n'
    )
    found = load_experiment(str(tmp_path / "mine.toml"))
    assert (found.initial, found.evaluator) == (str(tmp_path / "p0.py"), str(tmp_path / "e.py"))
    assert found.arms == (Arm(name="memento", method="memento", evaluator=str(tmp_path / "own.py")),)
    with pytest.raises(UsageError, match="cannot read"):
        load_experiment(str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="did you mean 'main'"):
        load_experiment("mian")
