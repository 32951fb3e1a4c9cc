"""A finished run for all tests of exports."""

from ...cli.conftest import finished

__all__ = ["finished"]
