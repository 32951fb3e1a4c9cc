"""Compiled models are kept on disk: what is read back is what would be compiled."""

import os
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from memento.domains.arm import models
from memento.domains.arm.physics.symbols import forget_compilation
from memento.domains.hanoi import DOMAIN
from memento.domains.hanoi.environment import HanoiEnvironment

XML = '<mujoco model="{name}"><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'


def content(model: Any) -> bytes:
    buffer = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def kept(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The XML texts that MuJoCo compiled."""
    seen: list[str] = []
    real = mujoco.MjModel

    class Counting:
        from_binary_path = real.from_binary_path

        @staticmethod
        def from_xml_string(xml: str) -> Any:
            seen.append(xml)
            return real.from_xml_string(xml)

    monkeypatch.setattr(models.mujoco, "MjModel", Counting)
    return seen


def test_the_second_one_is_read_and_equals_the_compiled_one(tmp_path: Path, compilations: list[str]) -> None:
    xml = XML.format(name="ball")
    compiled = content(mujoco.MjModel.from_xml_string(xml))
    compilations.clear()
    assert content(models.kept_model(xml, tmp_path)) == content(models.kept_model(xml, tmp_path)) == compiled
    assert compilations == [xml] and len(kept(tmp_path)) == 1
    other = XML.format(name="other")
    models.kept_model(other, tmp_path)
    assert compilations == [xml, other] and len(kept(tmp_path)) == 2


def test_without_a_folder_it_is_compiled_each_time(compilations: list[str]) -> None:
    xml = XML.format(name="ball")
    assert content(models.kept_model(xml, None)) == content(models.kept_model(xml, None))
    assert compilations == [xml, xml]


@pytest.mark.parametrize("size", [0, 10, 500])
def test_a_damaged_file_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    log = tmp_path / "log"
    log.mkdir()
    monkeypatch.chdir(log)      # MuJoCo writes its warning into the working directory
    tmp_path = tmp_path / "models"
    tmp_path.mkdir()
    xml = XML.format(name="ball")
    compiled = content(models.kept_model(xml, tmp_path))
    [path] = kept(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:size])
    assert content(models.kept_model(xml, tmp_path)) == compiled
    assert kept(tmp_path) == [path] and path.read_bytes() == whole


def test_a_full_disk_costs_time_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(models.mujoco, "mj_saveModel", full)
    assert models.kept_model(XML.format(name="ball"), tmp_path).nq == 7
    assert kept(tmp_path) == []


def test_a_file_that_the_xml_names_decides_as_well(tmp_path: Path) -> None:
    mesh, folder = tmp_path / "mesh.obj", tmp_path / "models"
    folder.mkdir()
    asset = f'<asset><mesh name="m" file="{mesh}"/></asset>'
    xml = f'<mujoco>{asset}<worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>'
    corners = "v 0 0 0\nv {x} 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    sizes = []
    for x in (1, 20):
        mesh.write_text(corners.format(x=x))
        forget_compilation()    # MuJoCo keeps meshes by the time of the file, and both are of this moment
        sizes.append(float(models.kept_model(xml, folder).geom_rbound[0]))
    assert sizes[0] < sizes[1] and len(kept(folder)) == 2
    mesh.unlink()
    with pytest.raises(ValueError, match="mesh"):
        models.kept_model(xml, folder)


def test_the_last_used_ones_are_kept(tmp_path: Path) -> None:
    texts = [XML.format(name=f"ball{number}") for number in range(models.KEPT)]
    for number, xml in enumerate(texts):
        before = {*kept(tmp_path)}
        models.kept_model(xml, tmp_path)
        [made] = {*kept(tmp_path)} - before
        os.utime(made, (1000 + number, 1000 + number))
    first, second, *_ = sorted(kept(tmp_path), key=lambda path: path.stat().st_mtime)
    models.kept_model(texts[0], tmp_path)       # used again
    models.kept_model(XML.format(name="new"), tmp_path)
    assert len(kept(tmp_path)) == models.KEPT
    assert first.exists() and not second.exists()


@pytest.mark.slow
def test_episodes_with_a_model_that_was_read_are_the_same_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str],
) -> None:
    ends = []
    for folder in (None, tmp_path, tmp_path):
        monkeypatch.setattr(models, "user_folder", lambda _, folder=folder: folder)
        environment = HanoiEnvironment(DOMAIN.options({"physics": "exact"}, preset="paper"))
        actions = np.random.default_rng(0).uniform(-1, 1, (40, 7))
        for seed in (1, 2):
            environment.reset(index=0, seed=seed)
            for action in actions:
                environment.step(action)
            data = environment.simulation.scene.mj_data
            ends.append((content(environment.simulation.scene.mj_model), data.qpos.tobytes(), data.qvel.tobytes()))
        environment.close()
    assert ends[0:2] == ends[2:4] == ends[4:6]
    assert len(compilations) == 2 and len(kept(tmp_path)) == 1
