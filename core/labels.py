"""The labels under which a judge sees evaluators; they reveal neither name nor origin."""


def label(place: int) -> str:
    """A, B, … Z, AA, AB, … for 0, 1, … 25, 26, 27, …"""
    text = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        text = chr(ord("A") + rest) + text
    return text
