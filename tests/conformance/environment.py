"""The contract of every environment: inherit EnvironmentContract and set the attributes of `Subject`."""

import contextlib
import copy
import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from memento.core.ports import Domain, Encoding, Environment
from memento.core.recording_file import KINDS, load_recording, save_recording
from memento.core.values import JSON

from ..support.leftovers import descriptors
from ..support.processes import members_of
from .playing import digest_elsewhere, play
from .subject import Subject

STEPS = 6
ENOUGH = 400        # an episode under `given` must end within so many steps


class EnvironmentContract(Subject):
    """Where actions are JSON, override `bad_actions` as well: values that break the domain's action contract."""

    def bad_actions(self) -> list[Any]:
        return []

    def test_observations_have_the_form_that_is_announced(self, environment: Environment) -> None:
        layout, size = environment.observation_layout, environment.action_size
        assert (layout is None) == (size is None)
        for observation in play(environment, self.actions(environment, STEPS), seed=1).observations:
            if layout is None:
                assert isinstance(observation, dict)
                assert json.loads(json.dumps(observation, allow_nan=False)) == observation
            else:
                assert isinstance(observation, np.ndarray) and observation.dtype == np.float64
                assert observation.shape == (sum(int(np.prod(shape)) for _, shape in layout),)
                assert np.isfinite(observation).all()
        assert (environment.observation_layout, environment.action_size) == (layout, size)

    @pytest.mark.slow
    def test_a_seed_is_the_same_episode_in_another_process(
        self, environment: Environment, options: dict[str, JSON]
    ) -> None:
        """There it is the first episode; here it follows others."""
        actions = self.actions(environment, STEPS)
        play(environment, actions, index=1, seed=8)
        here = play(environment, actions, index=5, seed=7).digest()
        assert here == digest_elsewhere(self.domain, options, actions, index=5, seed=7)

    def test_a_reset_may_come_at_any_time(self, environment: Environment) -> None:
        actions = self.actions(environment, STEPS)
        whole = play(environment, actions, seed=3).digest()
        play(environment, actions[:2], seed=4)                 # abandoned before its end
        environment.reset(index=1, seed=5)                      # abandoned before its first step
        assert play(environment, actions, seed=3).digest() == whole

    def test_queries_after_the_end_change_nothing(self, environment: Environment) -> None:
        actions = self.actions(environment, ENOUGH)
        whole = play(environment, actions, seed=3)
        assert environment.success() == whole.success
        again = environment.recording()
        assert again.steps == whole.recording.steps and again.info == whole.recording.info

    def test_a_step_after_the_end_does_not_survive_a_reset(self, environment: Environment) -> None:
        actions = self.actions(environment, ENOUGH)
        whole = play(environment, actions, seed=3).digest()
        with contextlib.suppress(Exception):    # any exception is allowed
            environment.step(actions[0])
        assert play(environment, actions, seed=3).digest() == whole

    def test_an_episode_ends_with_a_word(self, environment: Environment) -> None:
        played = play(environment, self.actions(environment, ENOUGH), seed=2)
        assert isinstance(played.ended, str) and played.ended, f"the episode is longer than {ENOUGH} steps"
        assert played.ended != "fault"
        assert played.ended != "success" or played.success
        assert played.success in (True, False)

    def test_a_recording_has_one_state_more_than_actions(self, environment: Environment) -> None:
        for steps in (0, 1, STEPS):
            played = play(environment, self.actions(environment, steps), seed=2)
            recording, steps = played.recording, len(played.observations)
            assert recording.steps == steps and recording.states and recording.actions
            assert {len(rows) for rows in recording.states.values()} == {steps + 1}
            assert {len(rows) for rows in recording.actions.values()} == {steps}
            names = [*recording.states, *recording.actions, *recording.constants]
            assert len(set(names)) == len(names)

    def test_a_recording_is_plain_data(self, environment: Environment, tmp_path: Path) -> None:
        recording = play(environment, self.actions(environment, STEPS), seed=2).recording
        assert {array.dtype.kind for array in recording.arrays().values()} <= set(KINDS)
        assert json.loads(json.dumps(recording.info, allow_nan=False)) == recording.info
        assert isinstance(recording.info.get("scene", ""), str)
        save_recording(tmp_path / "episode.npz", recording)
        kept = load_recording(tmp_path / "episode.npz")
        assert kept.info == recording.info
        for name, array in recording.arrays().items():
            assert np.array_equal(kept.arrays()[name], array)

    def test_what_is_returned_is_the_callers(self, environment: Environment) -> None:
        actions = self.actions(environment, STEPS)
        environment.reset(index=0, seed=6)
        given = [(environment.observe(), environment.recording())]
        kept = copy.deepcopy(given)
        for action in actions:
            environment.step(action)
            given.append((environment.observe(), environment.recording()))
            kept.append(copy.deepcopy(given[-1]))
        environment.reset(index=0, seed=7)
        for (observation, recording), (seen, recorded) in zip(given, kept, strict=True):
            assert np.array_equal(observation, seen) if isinstance(seen, np.ndarray) else observation == seen
            assert recording.info == recorded.info
            for name, array in recorded.arrays().items():
                assert np.array_equal(recording.arrays()[name], array)

    def test_what_is_passed_stays_the_callers(self, environment: Environment) -> None:
        action = copy.deepcopy(self.actions(environment, 1)[0])
        before = copy.deepcopy(action)
        once = play(environment, [action], seed=6)
        assert np.array_equal(action, before) if isinstance(action, np.ndarray) else action == before
        recorded = once.digest()
        if isinstance(action, np.ndarray):
            action[:] = 0.0
        else:
            action.clear()
        once.recording = environment.recording()
        assert once.digest() == recorded

    def test_bad_actions_are_refused_with_a_sentence(self, environment: Environment) -> None:
        if environment.observation_layout is not None:
            pytest.skip("vectors are well formed when they come")
        assert self.bad_actions(), "override bad_actions()"
        for bad in self.bad_actions():
            environment.reset(index=0, seed=1)
            environment.observe()
            with pytest.raises(ValueError, match=r"\w+ \w+") as refused:
                environment.step(bad)
            assert "\n" not in str(refused.value)
            assert environment.recording().steps == 0
            assert environment.success() in (True, False)

    def test_the_encoded_observation_is_the_observation(self, environment: Environment) -> None:
        if not isinstance(environment, Encoding):
            pytest.skip("it offers none")
        actions = self.actions(environment, STEPS)
        seen = play(environment, actions, seed=9).observations
        environment.reset(index=0, seed=9)
        for observation, action in zip(seen, actions, strict=False):
            assert json.loads(environment.observe_encoded()) == observation
            environment.step(action)

    def test_closing_leaves_nothing(self, loaded: Domain, options: dict[str, JSON]) -> None:
        def held() -> tuple[set[int], set[tuple[str, str]], set[str]]:
            return members_of(os.getpid()), descriptors(), {thread.name for thread in threading.enumerate()}

        before = held()
        environment = loaded.environment(options)
        play(environment, self.actions(environment, 2), seed=1)
        environment.close()
        assert [after - one for after, one in zip(held(), before, strict=True)] == [set(), set(), set()]
