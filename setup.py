"""The packages of the wheel: this folder is the package `memento`, which `pyproject.toml` alone cannot have found."""

from setuptools import find_packages, setup

OUTSIDE = ["tests", "tests.*", "docs", "docs.*"]

setup(
    packages=["memento", *(f"memento.{name}" for name in find_packages(exclude=OUTSIDE))],
    script_name="setup.py",     # so that the wheel does not hold it
)
