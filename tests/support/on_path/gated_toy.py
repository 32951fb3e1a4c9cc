"""A domain with a cheap twin: the kinematic Tower of Hanoi, and the same with fewer steps."""

from dataclasses import replace

from memento.core.ports import Twin
from memento.domains.hanoi_kinematic import DOMAIN as KINEMATIC

DOMAIN = replace(
    KINEMATIC, name="gated-toy", title="a toy with a twin",
    cheap=lambda options: Twin(domain="hanoi-kinematic", options={**options, "horizon": 40}),
)
"""Programs of it run in the twin."""

MISFIT = replace(
    KINEMATIC, name="gated-toy", title="a toy with another task as its twin",
    cheap=lambda options: Twin(domain="hanoi-kinematic", options={**options, "n_cubes": 3}),
)
"""Its twin has one cube less, so that observations differ."""
