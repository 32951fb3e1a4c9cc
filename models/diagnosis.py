"""Diagnoses a client library's exception: the problem, the fix, and whether to retry.

Imports pydantic-ai, which takes seconds: only the connection imports this module.
"""

import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from urllib.parse import quote

from pydantic_ai import exceptions as ai

from ..core.text import one_line
from .call_limits import Failure, requested_wait_s
from .providers import too_long
from .spec import ModelSpec

# Takes keys out of texts that could carry them elsewhere: messages of exceptions, replies.


_LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_\-*.]{8,}|(?i:\bbearer\s+)[^\s'\",;]+")


_SHORTEST = 12      # characters of a key's beginning or end that are masked as well


def without_keys(text: str, keys: Iterable[str]) -> str:
    """`text` with these keys replaced, whatever they look like: also in base64 or URL-coded, with white space or
    dashes between their letters, and the beginning or end of one."""
    for key in sorted(filter(None, keys), key=len, reverse=True):
        for form in _forms(key):
            text = text.replace(form, "[key]")
        if len(key) >= _SHORTEST:
            text = _spelt_out(key).sub("[key]", text)
    return text


@cache
def _forms(key: str) -> tuple[str, ...]:
    """The key as it is and as it is coded for a header, a URL or a body, the longest first."""
    data = key.encode("utf-8", "surrogatepass")
    forms = {key}
    if len(key) >= _SHORTEST:
        coded = {quote(key, safe=""), "".join(f"%{byte:02X}" for byte in data), data.hex().upper()}
        forms |= coded | {re.sub("%..", lambda found: found[0].lower(), form) for form in coded} | {data.hex()}
        for lead in range(3):       # base64 goes on by three bytes: what stands before the key moves its letters
            for encode in (b64encode, urlsafe_b64encode):
                whole = encode(bytes(lead) + data).decode().rstrip("=")
                first, last = (0, 2, 3)[lead], len(whole) - (1 if (lead + len(data)) % 3 else 0)
                forms.add(whole[first:last])
    return tuple(sorted(forms, key=len, reverse=True))


@cache
def _spelt_out(key: str) -> re.Pattern[str]:
    """The key's first or last letters, at least `_SHORTEST` of them, with or without blanks between."""
    gap = r"[\s\u200b\u00ad]*"
    ahead = gap.join(map(re.escape, key[:_SHORTEST]))
    rest = ""
    for letter in reversed(key[_SHORTEST:]):
        rest = f"(?:{gap}{re.escape(letter)}{rest})?"
    end = gap.join(map(re.escape, key[-_SHORTEST:]))
    return re.compile(f"{ahead}{rest}|{end}")


def quotable(text: str, keys: Iterable[str], limit: int = 300) -> str:
    """A service's words, fit for a message: one line, bounded, without these keys or anything like a key."""
    return one_line(_LOOKS_LIKE_A_KEY.sub("[key]", without_keys(text, keys)), limit)


_POLICY_CODES = {"content_filter", "content_policy_violation", "invalid_prompt", "responsible_ai_policy_violation"}
_POLICY_WORDS = "content filtering policy"  # the only mark of it in Anthropic's error
_TRANSIENT_STATUSES = {408, 409, 425}


def refused_to_answer(error: Exception) -> bool:
    """Whether this is a refusal and not a failure: the service's content policy stopped prompt or reply."""
    if isinstance(error, ai.ContentFilterError):
        return True
    if not isinstance(error, ai.ModelRequestRejectedError):
        return False
    by_code = {error.provider_error_code, error.provider_error_type} & _POLICY_CODES
    return bool(by_code) or _POLICY_WORDS in (_message(error.body) or "")


def diagnose(error: Exception, spec: ModelSpec, keys: Collection[str]) -> Failure:
    """The failure that an exception of one request means. The service's message is quoted, bounded, without keys."""
    if (length := too_long(error)) is not None:
        return Failure(problem=f"sent an answer that is too long to read ({length})")
    redirected = _redirect(error) or _redirect(error.__cause__)
    if redirected is not None:
        return Failure(
            problem=f"redirects to another address (HTTP {redirected}), which is not followed, since it would get the "
            "key and the prompt: set the address of the service itself", fatal=True,
        )
    if isinstance(error, ai.ModelRequestRejectedError | ai.ModelQuotaExceededError):
        return _rejected(error, spec, keys)
    if isinstance(error, ai.ModelAPIError):
        return _transient(error, keys)
    if isinstance(error, ai.UserError):  # the library cannot express this request to this model
        return Failure(problem=f"cannot be asked this way: {quotable(str(error), keys)}", fatal=True, form=True)
    # Any other exception (a KeyError from a malformed body, a socket error) concerns only this answer.
    kind = type(error).__name__
    return Failure(problem=f"gave an answer that cannot be read ({kind}: {quotable(str(error), keys)})", retry=True)


def _rejected(error: ai.ModelAPIError, spec: ModelSpec, keys: Collection[str]) -> Failure:
    status = _status(error)
    if isinstance(error, ai.ModelAuthenticationError):
        # The service's message is omitted: some services repeat parts of the key.
        return Failure(
            problem=f"refused the key{status}: check {spec.key_variable} and its rights to this model", fatal=True
        )
    if isinstance(error, ai.ModelQuotaExceededError):
        return Failure(problem=f"has no credit left{status}: {_words(error, keys)}", fatal=True)
    if isinstance(error, ai.ModelNotFoundError):
        near = getattr(error, "suggested_model_id", None)
        hint = f"; did you mean {near}?" if near else ""
        return Failure(problem=f"is not known there{status}{hint}: {_words(error, keys)}", fatal=True)
    if isinstance(error, ai.ModelContextWindowExceededError) or getattr(error, "status_code", None) == 413:
        return Failure(problem=f"cannot read a prompt this long{status}: {_words(error, keys)}")
    if getattr(error, "status_code", None) in _TRANSIENT_STATUSES:
        return _transient(error, keys)
    return Failure(problem=f"refused the request{status}: {_words(error, keys)}", fatal=True, form=True)


def _transient(error: ai.ModelAPIError, keys: Collection[str]) -> Failure:
    overloaded = isinstance(error, ai.ModelRateLimitError | ai.ModelUnavailableError)
    if overloaded:
        what = "is overloaded"
    elif isinstance(error, ai.ModelTimeoutError):
        what = "fell silent"
    elif isinstance(error, ai.ModelConnectionError):
        what = "could not be reached" if error.phase in ("connect", "pool") else "broke off the connection"
    elif isinstance(error, ai.ModelServerError):
        what = "failed"
    else:
        what = "gave an answer that cannot be read"
    # The service itself may report that a retry is useless.
    retry = getattr(error, "provider_retry_hint", None) is not False or isinstance(error, ai.ModelRateLimitError)
    return Failure(
        problem=f"{what}{_status(error)}: {_words(error, keys)}",
        retry=retry,
        overloaded=overloaded,
        retry_after_s=requested_wait_s(error),
    )


def _redirect(error: object) -> int | None:
    """The HTTP status where it is a redirect."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) and 300 <= status < 400 else None


def _status(error: ai.ModelAPIError) -> str:
    status = getattr(error, "status_code", None)
    return f" (HTTP {status})" if status else ""


def _words(error: ai.ModelAPIError, keys: Collection[str]) -> str:
    text = _message(error.body) or (error.message if error.body is None else str(error.body))
    return quotable(text, keys) or "no reason given"


def _message(body: object) -> str | None:
    """The message in an error body in the form of OpenAI, Anthropic or a gateway."""
    if isinstance(body, Mapping):
        return _message(body.get("error")) or _message(body.get("message"))
    return body if isinstance(body, str) else None
