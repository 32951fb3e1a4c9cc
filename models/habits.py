"""What the run learns about one model: what requests to it leave out, and what is odd about its answers."""

import re
from collections.abc import Callable

from .failures import Failure

Report = Callable[[str, str, str], None]
"""Gets the model's name, the event and a sentence, as in the fact ServiceNoted."""

_NAMED = {
    "typed": r"response_format|json_(object|schema)|json mode|structured output|guided|grammar|tool_choice|\btools?\b",
    "tools": r"\btools?\b|tool.?(use|call|choice)|function.?call",
    "stream": r"stream",
    "temperature": r"temperature|sampling param",
    "thinking": r"thinking|reasoning",
    "max_output_tokens": r"max_(completion_|output_|new_)?tokens",
    "cache": r"cache|content.{0,40}\b(string|list|array|text part)",
}
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _NAMED.items()}
_WORDS = {
    "typed": "the form in which judges are to answer (response_format)", "tools": "tools", "stream": "streaming",
    "temperature": "a temperature", "thinking": "the setting of its thinking",
    "max_output_tokens": "the limit of its output", "cache": "marks for its cache",
}
_REFUSING = re.compile(
    r"support|unknown|invalid|must|require|unrecogni|not (allowed|permitted|implemented|available)|extra|enable|only",
    re.IGNORECASE,
)
_PICTURES = re.compile(r"image|picture|vision|multi.?modal", re.IGNORECASE)
CUT_TOKENS = 1000       # no server has a smaller context; one that counts nothing may always report one small number
CUT_CHARACTERS = 200    # the least difference of two prompts of which the same part was read
CHARACTERS_PER_TOKEN = 2    # fewer are in a token of a prompt that is read whole


class Habits:
    """What the run learns about one model at one service; all clients of the model share it."""

    def __init__(self, name: str, report: Report) -> None:
        self.left_out: set[str] = set()     # optional features of a request that the service refused
        self.counts_tokens = True
        self._name = name
        self._report = report
        self._doubted: frozenset[str] = frozenset()     # left out, and not yet known to be the reason
        self._accepted: set[str] = set()
        self._said: set[str] = set()
        self._read: dict[int, int] = {}

    def refuses(self, used: frozenset[str], words: str, failure: Failure) -> bool:
        """Whether a request with the features `used` failed by one of them, which requests leave out from now on.

        `words` are the service's. Where they name no feature, all that were never accepted are left out once.
        """
        if used & self.left_out:
            return True     # sent before another call learnt it
        named = frozenset(name for name in used if _PATTERNS[name].search(words))
        if named and (failure.form or _REFUSING.search(words)):
            self.left_out |= named
            for name in sorted(named):
                self._once("left out", name, f"refuses {_WORDS[name]} ({failure.problem})")
            return True
        if not failure.form or any(pattern.search(words) for pattern in (*_PATTERNS.values(), _PICTURES)):
            return False    # it is about something else, which has a name
        self.left_out -= self._doubted
        again, self._doubted = bool(self._doubted), frozenset()
        if again:
            return False    # it was none of them
        self._doubted = used - self._accepted - {"max_output_tokens", "cache", "stream"}
        self.left_out |= self._doubted
        return bool(self._doubted)

    def note_accepted(self, used: frozenset[str]) -> None:
        """Note that a request with these features was answered."""
        self._accepted |= used
        doubted, self._doubted = self._doubted, frozenset()
        for name in sorted(doubted):
            self._once("left out", name, f"answers only without {_WORDS[name]}")

    def odd(self, text: str) -> None:
        """Report something about its answers, once; `text` follows its name."""
        if text not in self._said:
            self._said.add(text)
            self._report(self._name, "odd", f"{self._name} {text}")

    def read(self, characters: int, tokens: int) -> None:
        """Compare how much was read of prompts of different lengths: a server may cut them without a word."""
        if tokens < CUT_TOKENS:
            return
        other = self._read.setdefault(tokens, characters)
        longer = max(characters, other)
        if abs(characters - other) < CUT_CHARACTERS or longer < CHARACTERS_PER_TOKEN * tokens or "cut" in self._said:
            return
        self._said.add("cut")
        self._report(self._name, "cut", (
            f"{self._name} read {tokens:,} tokens of prompts of {min(characters, other):,} and {longer:,} characters: "
            "it cuts prompts without saying so; give it a larger context (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx)"
        ))

    def _once(self, event: str, name: str, what: str) -> None:
        if name not in self._said:
            self._said.add(name)
            self._report(self._name, event, f"{self._name} {what}: requests go without it from now on")
