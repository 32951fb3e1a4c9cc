"""Diagnoses a client library's exception: the problem, the fix, and whether to retry.

Imports pydantic-ai, which takes seconds: only the connection imports this module.
"""

import re
from collections.abc import Collection, Mapping

from pydantic_ai import exceptions as ai

from .bodies import BodyTooLong, WebPage, caused_by
from .failures import Failure, requested_wait_s
from .opening import why_unreachable
from .prompt_length import is_too_long, room_in, words_of
from .redaction import quotable
from .spec import ModelSpec

_POLICY_CODES = {"content_filter", "content_policy_violation", "invalid_prompt", "responsible_ai_policy_violation"}
_POLICY_WORDS = re.compile(  # the only mark of it in the errors of Anthropic, Azure and OpenRouter
    r"content (filtering|management) policy|content_filter|requires moderation|was flagged", re.IGNORECASE
)
_TRANSIENT_STATUSES = {408, 409, 425}


def refused_to_answer(error: Exception) -> bool:
    """Whether this is a refusal and not a failure: the service's content policy stopped prompt or reply."""
    if isinstance(error, ai.ContentFilterError):
        return True
    if not isinstance(error, ai.ModelRequestRejectedError):
        return False
    by_code = {error.provider_error_code, error.provider_error_type} & _POLICY_CODES
    return bool(by_code) or bool(_POLICY_WORDS.search(_message(error.body) or ""))


def diagnose(
    error: Exception, spec: ModelSpec, keys: Collection[str], where: str = "its address", *, characters: int = 0
) -> Failure:
    """The failure that an exception of one request means. The service's message is quoted, bounded, without keys.

    `where` is the address of the service, `characters` the length of the prompt.
    """
    if (length := caused_by(error, BodyTooLong)) is not None:
        return Failure(problem=f"sent an answer that is too long to read ({length})")
    if caused_by(error, WebPage) is not None:
        return Failure(
            problem=f"sent a page for people instead of an answer of a model, from {where}", retry=True, outage=True,
            foreign=True,
        )
    redirected = _redirect(error) or _redirect(error.__cause__)
    if redirected is not None:
        return Failure(
            problem=f"redirects to another address (HTTP {redirected}), which is not followed, since it would get the "
            "key and the prompt: set the address of the service itself", fatal=True,
        )
    if isinstance(error, ai.ModelAPIError) and is_too_long(error):
        return Failure(
            problem=f"cannot read a prompt this long{_status(error)}: {_words(error, keys)}",
            room=room_in(words_of(error), characters),
        )
    if isinstance(error, ai.ModelRequestRejectedError | ai.ModelQuotaExceededError):
        return _rejection(error, spec, keys, where)
    if isinstance(error, ai.ModelConnectionError) and error.phase in ("connect", "pool"):
        return _no_connection(error, where, keys)
    if isinstance(error, ai.ModelAPIError):
        return _transient(error, keys)
    if isinstance(error, ai.UserError):  # the library cannot express this request to this model
        return Failure(problem=f"cannot be asked this way: {quotable(str(error), keys)}", fatal=True, form=True)
    # Any other exception (a KeyError from a malformed body, a socket error) concerns only this answer.
    kind = type(error).__name__
    return Failure(problem=f"gave an answer that cannot be read ({kind}: {quotable(str(error), keys)})", retry=True)


def _rejection(error: ai.ModelAPIError, spec: ModelSpec, keys: Collection[str], where: str) -> Failure:
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
        return Failure(problem=(
            f"is not known there{status}{hint}: {_words(error, keys)}{_path_hint(spec, where)}; a run goes on with "
            "another one by memento resume --model"
        ), fatal=True)
    if getattr(error, "status_code", None) in _TRANSIENT_STATUSES:
        return _transient(error, keys)
    return Failure(problem=f"refused the request{status}: {_words(error, keys)}", fatal=True, form=True)


def _path_hint(spec: ModelSpec, where: str) -> str:
    """Servers with OpenAI's chat completions mostly have them below /v1."""
    if not spec.is_compatible or re.search(r"/v\d|/openai", where):
        return ""
    return f"; the addresses of such services mostly end in /v1: try compatible:{spec.label}@{where}/v1#{spec.model}"


def _transient(error: ai.ModelAPIError, keys: Collection[str]) -> Failure:
    overloaded = isinstance(error, ai.ModelRateLimitError | ai.ModelUnavailableError)
    if overloaded:
        what = "is overloaded"
    elif isinstance(error, ai.ModelTimeoutError):
        what = "fell silent"
    elif isinstance(error, ai.ModelConnectionError):
        what = "broke off the connection"
    elif isinstance(error, ai.ModelServerError):
        what = "failed"
    else:
        what = "gave an answer that cannot be read"
    outage = overloaded or isinstance(error, ai.ModelConnectionError | ai.ModelServerError)
    # The service itself may report that a retry is useless.
    retry = getattr(error, "provider_retry_hint", None) is not False or isinstance(error, ai.ModelRateLimitError)
    return Failure(
        problem=f"{what}{_status(error)}: {_words(error, keys)}",
        retry=retry,
        overloaded=overloaded,
        outage=outage and retry,
        retry_after_s=requested_wait_s(error),
    )


def _no_connection(error: ai.ModelConnectionError, where: str, keys: Collection[str]) -> Failure:
    """No connection came about, so the service got nothing."""
    return Failure(
        problem=f"could not be reached at {where} ({why_unreachable(error) or _words(error, keys)})", retry=True,
        outage=True, unreachable=True,
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
