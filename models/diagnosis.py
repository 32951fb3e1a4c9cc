"""Diagnoses a client library's exception: the problem, the fix, and whether to retry.

Imports pydantic-ai, which takes seconds: only the connection imports this module.
"""

from collections.abc import Collection, Mapping

from pydantic_ai import exceptions as ai

from .body_limit import too_long
from .keys import quotable
from .retrying import Failure, requested_wait_s
from .spec import ModelSpec

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
