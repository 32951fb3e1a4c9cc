"""What the views say of an elite whose F was withdrawn, since starts on which it fails joined the search."""

from dataclasses import replace

from memento.cli.show_run import _curve
from memento.core.events import InitialChosen, RunStarted, SaturationChecked
from memento.core.values import Program
from memento.evidence.figures import list_figures
from memento.evidence.findings import find
from memento.evidence.loading import Evidence
from memento.evidence.records import curve_of, read_record
from memento.memory.run_view import gain_of, list_generations, view_of_facts
from memento.tui.snapshot import RunSnapshot
from memento.tui.watch.panels import draw_elites, draw_fitness

from ..support.recorded_facts import elite, scored

FACTS = [
    RunStarted(settings={"n_roll": 3, "generations": 2, "domain": "d"}, versions={}, sandbox=()),
    InitialChosen(order="init/0", program=Program("p = 0")), replace(elite("init/0", 0), fitness=0.4),
    scored("g1/macro/0", fitness=1.0), replace(elite("g1/macro/0"), fitness=1.0),
    SaturationChecked(
        generation=1, candidate="g1/macro/0", episodes=24, joined=(7, 9), fitness=0.8, success_rate=0.5
    ),
    scored("g2/macro/0", 2, 0.9), replace(elite("g2/macro/0", 2), fitness=0.9),
]


def test_a_withdrawn_fitness_is_in_no_curve() -> None:
    slots = view_of_facts(FACTS).slots
    curve = curve_of(slots.elites, slots.joined)
    assert [(point.fitness, point.best_fitness, point.starts) for point in curve] == [
        (0.4, 0.4, 0), (0.8, 0.8, 2), (0.9, 0.9, 0),
    ]
    assert [each.fitness for each in slots.comparable] == [0.8, 0.9]
    assert [point.elite_fitness for point in slots.points][-3:] == [0.4, 0.8, 0.8]
    assert slots.candidates["g1/macro/0"].fitness == 0.8


def test_no_gain_is_stated_across_starts_that_joined() -> None:
    slots = view_of_facts(FACTS).slots
    first, perfect, last = slots.elites
    assert gain_of(perfect, first, slots.joined) is None and gain_of(last, first, slots.joined) is None
    assert gain_of(last, perfect, slots.joined) == last.fitness - 0.8


def test_displays_and_reports_say_where_the_episodes_changed() -> None:
    view = view_of_facts(FACTS)
    snapshot = RunSnapshot(run=view.status, slots=view.slots)
    shown = draw_fitness(snapshot, width=90, height=12, now=0.0).plain
    assert "F from g1 on counts 2 more starts" in shown
    assert "1.000" not in draw_elites(snapshot, width=90, height=12, now=0.0).plain
    lines = "\n".join(_curve(list_generations(view.slots)))
    assert "+2 starts" in lines and "+N starts" in lines
    record = read_record(FACTS, name="one", folder="one", wall_s=1.0)
    assert record.best_fitness == 0.9
    notes = {each.title: each.note for each in list_figures(find(Evidence(title="t", records=(record,))).groups[0])}
    noted = notes["Best fitness so far, under the run's own evaluator"]
    assert "one: from generation 1 on, with 2 more starts" in noted
