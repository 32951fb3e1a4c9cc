"""An archive gives the same page as the runs, and holds nothing about the machine."""

import lzma
from dataclasses import replace

import pytest
from memento.core.errors import UsageError
from memento.evidence.archive import read_archive, write_archive
from memento.evidence.csv_files import write_csv
from memento.evidence.loading import Evidence, load_comparison
from memento.evidence.page import PageOrigin, Picture, render, shown_runs

from ..support.memory_use import refusal_of
from .logs import comparison, hostile_log, record

pytestmark = pytest.mark.quick

FRAME = PageOrigin(made="2026-11-21 03:00 UTC", version="0.1.0")


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    folder = comparison(tmp_path_factory.mktemp("archive"), methods=["memento", "eureka-elite"], seeds=[1, 2, 3])
    return load_comparison(folder)


def named_by_folder(evidence):
    """The evidence as in an archive: a run's folder without its path."""
    records = tuple(replace(one, folder=one.folder.rpartition("/")[2]) for one in evidence.records)
    return replace(evidence, records=records)


def test_the_same_page_and_the_same_rows_come_of_it(made_up, tmp_path):
    pictures = {made_up.records[0].name: (Picture(uri="data:image/png;base64,iVBO", caption="step 3"),)}
    size = write_archive(made_up, pictures, tmp_path / "a.json.xz")
    assert size == (tmp_path / "a.json.xz").stat().st_size < 40_000
    back, drawn = read_archive(tmp_path / "a.json.xz")
    assert drawn == pictures
    assert back.measured.keys() == made_up.measured.keys()
    assert render(back, FRAME) == render(named_by_folder(made_up), FRAME)
    for folder, evidence in (("one", named_by_folder(made_up)), ("other", back)):
        write_csv(evidence, tmp_path / folder)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()


def test_neither_paths_nor_talk_are_kept(made_up, tmp_path):
    shown = shown_runs(made_up)[0]
    path = "/srv/somebody/secret/p0.py"
    others = {"replay": "/srv/somebody/old-run", "options": {
        "unity_build": "/srv/somebody/My Builds/thor.x86_64",
        "recordings": ["C:\\\\somebody\\\\kitchens"], "gain": 0.5}}
    spoken = replace(made_up, records=tuple(
        replace(one, folder=f"/srv/somebody/{one.name}", settings={**one.settings, "initial": path, **others},
                task="kitchen (unity_build=/srv/somebody/thor.x86_64)")
        for one in made_up.records
    ), missing={"other": "cannot read /srv/somebody/old-run: no such file"})
    write_archive(spoken, {}, tmp_path / "a.json.xz")
    text = lzma.decompress((tmp_path / "a.json.xz").read_bytes()).decode()
    assert "somebody" not in text and "p0.py" in text
    back, _ = read_archive(tmp_path / "a.json.xz")
    assert back.records[0].task == "kitchen (unity_build=thor.x86_64)"
    assert back.records[0].settings["replay"] == "old-run"
    assert back.records[0].settings["options"] == {
        "unity_build": "thor.x86_64", "recordings": ["kitchens"], "gain": 0.5}
    assert all(not call.prompt.text and not call.reply.text for one in back.records for pool in one.pools
               for vote in pool.votes for call in (*vote.earlier, *([vote.call] if vote.call else [])))
    assert next(one for one in back.records if one.name == shown.name).elite == shown.elite


def test_texts_that_are_no_unicode_are_kept_as_far_as_may_be(tmp_path):
    evidence = Evidence(title="hostile", records=(record(hostile_log()),))
    write_archive(evidence, {}, tmp_path / "a.json.xz")
    back, _ = read_archive(tmp_path / "a.json.xz")
    assert render(back, FRAME)


@pytest.mark.parametrize("content", [
    b"", b"no xz", lzma.compress(b"[]"), lzma.compress(b"{}"), lzma.compress(b'{"title": 1}')[:-9],
])
def test_another_file_is_told(tmp_path, content):
    (tmp_path / "a.json.xz").write_bytes(content)
    with pytest.raises(UsageError, match=r"a\.json\.xz is not an archive of evidence, or is damaged"):
        read_archive(tmp_path / "a.json.xz")


@pytest.mark.slow
@pytest.mark.parametrize("content", [
    lambda: b'{"title": "x", "records": [' + b"0," * 16_000_000 + b"0]}",
    lambda: b'{"title": "x", "records": [], "missing": {' + b",".join(b'"%d":0' % n for n in range(3_000_000)) + b"}}",
    lambda: b'{"title": "' + b"x" * 2**27 + b'"}',
    lambda: b"[" * 1_000_000,
], ids=["zeros for records", "zeros by name", "too long", "nested"])
def test_a_hostile_archive_is_one_sentence_and_costs_little_memory(tmp_path, content):
    (tmp_path / "a.json.xz").write_bytes(lzma.compress(content(), preset=0))
    kilobytes, sentence = refusal_of("memento.evidence.archive:read_archive", tmp_path / "a.json.xz")
    assert "is not an archive of evidence, or is damaged: " in sentence
    assert sentence.count("\n") == 1
    assert kilobytes < 1_000_000, "7.5 GB before there was a bound"


def test_an_archive_of_another_version_is_told(made_up, tmp_path):
    write_archive(made_up, {}, tmp_path / "a.json.xz")
    text = lzma.decompress((tmp_path / "a.json.xz").read_bytes())
    (tmp_path / "a.json.xz").write_bytes(lzma.compress(text.replace(b'"version": 1', b'"version": 2', 1)))
    with pytest.raises(UsageError, match="of version 2; this MEMENTO reads version 1"):
        read_archive(tmp_path / "a.json.xz")


def test_a_missing_archive_is_told(tmp_path):
    with pytest.raises(UsageError, match="cannot read"):
        read_archive(tmp_path / "none.json.xz")
