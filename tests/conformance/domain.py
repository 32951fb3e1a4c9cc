"""The contract of every domain: inherit DomainContract and set the attributes of `Subject`."""

import ast
import copy
import json
import re
import subprocess
import sys
from typing import Any, ClassVar

import pytest
from memento.agents.contract_check import check
from memento.core.errors import UsageError
from memento.core.order_ids import CONDITIONS
from memento.core.ports import Domain, Environment, Generalising, Varying, conditions_for, shelf_of
from memento.core.values import JSON, Brief, Program
from memento.runtime.rollouts.generic_story import story_of
from memento.runtime.rollouts.story_text import shown_conditions, story_text
from memento.settings.presets import PRESETS

from .playing import play
from .subject import Subject

STEPS = 6


class DomainContract(Subject):
    """Set `simulators` to the modules that only `environment` may import, if they differ from the default."""

    simulators: ClassVar[frozenset[str]] = frozenset({"ai2thor", "mujoco", "numba", "robosuite", "torch"})

    def test_it_is_named(self, loaded: Domain) -> None:
        assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", loaded.name)
        assert loaded.title and "\n" not in loaded.title

    def test_programs_are_a_class_with_methods(self, loaded: Domain) -> None:
        assert loaded.contract.class_name.isidentifier() and loaded.evaluator_contract.class_name.isidentifier()
        assert loaded.contract.methods == (("reset", 0), ("compute_action", 1))
        assert loaded.evaluator_contract.methods == (("evaluate", 1),)

    def test_no_simulator_is_imported(self) -> None:
        code = (
            "import sys; from memento import domains; from memento.core.provenance import GIVEN\n"
            f"domain = domains.load({self.domain!r}, GIVEN)\n"
            f"options = domain.options({dict(self.given)!r}, preset='smoke')\n"
            "domain.brief(options), domain.reference_evaluator(), domain.shelf()\n"
            "print(*{name.partition('.')[0] for name in sys.modules})\n"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        assert not self.simulators & {*done.stdout.split()}

    @pytest.mark.parametrize("preset", PRESETS)
    def test_every_preset_completes_the_options(self, loaded: Domain, preset: str) -> None:
        given = dict(copy.deepcopy(self.given))
        options = loaded.options(given, preset=preset)
        assert given == self.given, "the argument is not changed"
        assert json.loads(json.dumps(options, allow_nan=False)) == options
        assert options == loaded.options(self.given, preset=preset)
        assert all(options == loaded.options(options, preset=other) for other in PRESETS), "the options are complete"

    def test_an_unknown_option_is_refused_with_the_nearest(self, loaded: Domain, options: dict[str, JSON]) -> None:
        for key in options:
            with pytest.raises(UsageError, match=re.escape(key)) as refused:
                loaded.options({f"{key}q": 1}, preset="smoke")
            assert f"{key}q" in str(refused.value) and "\n" not in str(refused.value)

    def test_the_brief_names_what_programs_need(
        self, loaded: Domain, options: dict[str, JSON], environment: Environment
    ) -> None:
        brief = loaded.brief(options)
        assert isinstance(brief, Brief) and brief.task.strip()
        for text, contract in (
            (brief.policy_interface, loaded.contract), (brief.evaluator_interface, loaded.evaluator_contract),
        ):
            words = {*re.findall(r"\w+", text)}
            assert words >= {contract.class_name, *(name for name, _ in contract.methods)}
        fields = [name for name, _ in environment.observation_layout or ()]
        assert {*re.findall(r"\w+", brief.policy_interface)} >= {*fields}

    def test_equal_arguments_give_equal_texts(self, loaded: Domain, options: dict[str, JSON]) -> None:
        kept = copy.deepcopy(options)
        assert loaded.brief(options) == loaded.brief(options)
        assert shelf_of(loaded, options) == shelf_of(loaded, options)
        assert loaded.reference_evaluator() == loaded.reference_evaluator()
        assert options == kept

    def test_the_reference_evaluator_scores_any_recording(self, loaded: Domain, environment: Environment) -> None:
        program = loaded.reference_evaluator()
        if program is None:
            pytest.skip("it has none")
        assert check(program, loaded.evaluator_contract) is None
        space: dict[str, Any] = {"__name__": "evaluator"}
        exec(compile(program.text, "evaluator", "exec"), space)
        make = space[loaded.evaluator_contract.class_name]
        recording = play(environment, self.actions(environment, STEPS), seed=1).recording
        for steps in (0, 1, recording.steps // 2, recording.steps):
            fitness, metrics = make().evaluate(recording.cut(steps).arrays())
            assert 0.0 <= fitness <= 1.0
            assert json.loads(json.dumps(metrics, allow_nan=False)) == metrics
            assert (fitness, metrics) == make().evaluate(recording.cut(steps).arrays())

    def test_it_describes_any_recording(self, loaded: Domain, environment: Environment) -> None:
        recording = play(environment, self.actions(environment, STEPS), seed=1).recording
        for steps in (0, 1, recording.steps // 2, recording.steps):
            cut = recording.cut(steps)
            story = story_of(loaded, cut)
            assert story == story_of(loaded, recording.cut(steps)), "the same recording has the same story"
            assert story_text(story)
            json.dumps(shown_conditions(story), allow_nan=False)

    def test_the_shelf_holds_programs_of_the_contract(self, loaded: Domain, options: dict[str, JSON]) -> None:
        shelf = shelf_of(loaded, options)
        if shelf is None:
            pytest.skip("it has none")
        assert check(shelf.initial, loaded.contract) is None
        assert all(isinstance(evaluator, Program) for evaluator in shelf.evaluators)
        for part in shelf.parts:
            assert part.kind in ("method", "constant") and part.alternatives
            if part.kind == "method":
                for text in part.alternatives:
                    [method] = ast.parse(f"class Shelf:\n{text}").body[0].body
                    assert isinstance(method, ast.FunctionDef)
            else:
                for text in part.alternatives:
                    ast.literal_eval(text)
                assert part.low is None or part.high is None or part.low <= part.high

    def test_changed_conditions_are_complete_options(self, loaded: Domain, options: dict[str, JSON]) -> None:
        kept = copy.deepcopy(options)
        if not isinstance(loaded, Varying):
            with pytest.raises(UsageError, match="remove robust = 'on'"):
                conditions_for(loaded, options)
            return
        try:
            changed = conditions_for(loaded, options)
        except UsageError as error:
            assert "robust" in str(error)
            return
        assert options == kept and (*changed,) == CONDITIONS
        assert changed["light"] != changed["heavy"], "of the two the search may have one itself"
        assert all(loaded.options(each, preset="smoke") == each for each in changed.values())

    def test_final_options_are_complete(self, loaded: Domain, options: dict[str, JSON]) -> None:
        if not isinstance(loaded, Generalising):
            pytest.skip("its final measure is taken where the search is")
        kept = copy.deepcopy(options)
        final = loaded.final_options(options, seed=7)
        assert options == kept
        assert final.keys() == options.keys()
        assert loaded.options(final, preset="smoke") == final
