"""A line that shows how far the tests are: kept up to date on a terminal, every twenty seconds elsewhere."""

import sys
import time

import pytest

ON_TERMINAL_EVERY_S = 0.5
ELSEWHERE_EVERY_S = 20.0
WIDTH = 78
LONGEST_GUESS = 10      # times what was measured


class Progress:
    """Replaces pytest's dots. A failure is named at once, and told in full at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._on_terminal = sys.stdout.isatty()
        self._began_s = time.monotonic()
        self._shown_s = -ELSEWHERE_EVERY_S
        self._whole = self._done = self._failed = 0

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._whole = len(session.items) or self._whole

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._whole = len(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letters; pytest counts all the same."""
        if hasattr(report, "wasxfail"):
            return "xfailed" if report.skipped else "xpassed", "", ""
        if report.failed:
            return ("failed", "", "FAILED") if report.when == "call" else ("error", "", "ERROR")
        return "skipped" if report.skipped else "passed" if report.when == "call" else "", "", ""

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._done += report.when == "teardown"
        if report.failed:
            self._failed += 1
            self._show(f"FAILED {report.nodeid}\n")
        now_s = time.monotonic()
        if self._done and now_s - self._shown_s >= (ON_TERMINAL_EVERY_S if self._on_terminal else ELSEWHERE_EVERY_S):
            self._shown_s = now_s
            self._show(self._line(now_s - self._began_s) + ("" if self._on_terminal else "\n"))

    def pytest_sessionfinish(self) -> None:
        if self._on_terminal:
            self._show("")

    def _line(self, passed_s: float) -> str:
        return f"{self._done} of {self._whole} tests, {self._failed} failed, {passed_s:.0f} s{self._left(passed_s)}"

    def _left(self, passed_s: float) -> str:
        """How long the rest takes at this rate; nothing where so little is measured that it would be a guess."""
        if self._done * (LONGEST_GUESS + 1) < max(self._whole, 1):
            return ""
        return f", about {passed_s * (self._whole / self._done - 1):.0f} s left"

    def _show(self, text: str) -> None:
        blank = f"\r{'':{WIDTH}}\r" if self._on_terminal else ""
        self._config.pluginmanager.getplugin("terminalreporter").write(f"{blank}{text}", flush=True)
