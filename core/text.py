"""Foreign text made fit to be shown: text from candidates and models is bounded before it goes anywhere."""

ELLIPSIS = " […] "


def one_line(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters: white space is joined, unprintables become "?".

    Surrogates and control characters would break terminals, JSON files and the wire to a model.
    """
    line = _printable(" ".join(text[: 8 * limit].split()))
    if len(line) <= limit and len(text) <= 8 * limit:
        return line
    return line[: max(0, limit - 1)] + "…"


def bounded(text: str, limit: int) -> str:
    """`text` with its lines, of at most `limit` characters: head and tail stay, the middle is left out."""
    if len(text) > limit:
        room = max(0, limit - len(ELLIPSIS))
        head = room // 2
        text = text[:head] + ELLIPSIS[:limit] + (text[-(room - head) :] if room - head else "")
    return _printable(text, "\n\t")


def _printable(text: str, besides: str = "") -> str:
    if text.isprintable():  # the common case, and much the fastest
        return text
    return "".join(sign if sign.isprintable() or sign in besides else "?" for sign in text)
