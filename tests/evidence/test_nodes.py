"""Reports name the nodes of a cluster and their shares, but not by the names of machines."""

from dataclasses import replace

from memento.core.events import EpisodeEnded
from memento.evidence import tables
from memento.evidence.archive import read_archive, write_archive
from memento.evidence.loading import Evidence
from memento.evidence.page import PageOrigin, render

from .logs import log, record

NODES = ("secret-host (10.1.2.3)", "other-host (10.1.2.4)")


def on_nodes(facts):
    """The facts of a run whose episodes took a minute each, three of four on the first node."""
    count = 0
    for fact in facts:
        if isinstance(fact, EpisodeEnded):
            count += 1
            notes = replace(fact.episode.notes, node=NODES[count % 4 == 0])
            fact = replace(fact, episode=replace(fact.episode, notes=notes, wall_s=60.0))
        yield fact


def test_the_table_has_the_share_of_every_node_also_from_an_archive(tmp_path) -> None:
    assert tables.nodes([record(log())]) is None
    records = tuple(record([*on_nodes(log(seed=seed))], name=f"r{seed}") for seed in (1, 2))
    evidence = Evidence(title="r", records=records)
    write_archive(evidence, {}, tmp_path / "a.json.xz")
    back, _ = read_archive(tmp_path / "a.json.xz")
    for found in (evidence, back):
        more, less = tables.nodes(found.records).rows
        episodes = sum(each.episodes_run for each in records)
        assert (more[1], less[1]) == ("2", "2") and int(more[2]) + int(less[2]) == episodes
        assert abs(float(more[3].removesuffix(" %")) - 75) < 2 and float(less[4]) > 0
        page = render(found, PageOrigin(made="now", version="0"))
        assert more[0] in page and "secret-host" not in page and "10.1.2.3" not in page
