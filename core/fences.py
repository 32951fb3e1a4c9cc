"""Foreign text in Markdown: a Markdown code block that its content cannot leave."""

import re


def fenced(text: str, language: str = "text") -> str:
    """`text` as a Markdown code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
