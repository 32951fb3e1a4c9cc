"""Parses the user's names of language models, such as `openai:gpt-5.2`, without importing any client.

A new provider has its form in FORMS and its key variable in KEY_VARIABLES here; see `providers.py` for the rest.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ..core.errors import UsageError, nearest

FORMS = {
    "offline": "offline",
    "ask": "ask",
    "openai": "openai:NAME",
    "openai-chat": "openai-chat:NAME",
    "anthropic": "anthropic:NAME",
    "compatible": "compatible:LABEL@URL#MODEL",
    "command": "command:PROGRAM",
}
"""Every scheme with the form that a user writes."""

FREE = ("offline", "ask")  # these schemes are their whole name, and no service is asked
COMMAND = "command"  # a program on this machine; what it asks, and what that costs, is not known

KEY_VARIABLES = {"openai": "OPENAI_API_KEY", "openai-chat": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
URL_VARIABLES = {"openai": "OPENAI_BASE_URL", "openai-chat": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}

ELSEWHERE = {
    "openrouter": "https://openrouter.ai/api/v1", "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "google-gla": "https://generativelanguage.googleapis.com/v1beta/openai",
    "azure": "https://RESOURCE.openai.azure.com/openai/v1", "ollama": "http://localhost:11434/v1",
    "ollama_chat": "http://localhost:11434/v1", "lmstudio": "http://localhost:1234/v1",
    "lm_studio": "http://localhost:1234/v1", "vllm": "http://localhost:8000/v1",
    "hosted_vllm": "http://localhost:8000/v1", "llamacpp": "http://localhost:8080/v1",
    "localai": "http://localhost:8080/v1", "litellm": "http://localhost:4000/v1",
    "groq": "https://api.groq.com/openai/v1", "mistral": "https://api.mistral.ai/v1",
    "deepseek": "https://api.deepseek.com/v1", "together": "https://api.together.xyz/v1",
    "together_ai": "https://api.together.xyz/v1", "fireworks": "https://api.fireworks.ai/inference/v1",
    "xai": "https://api.x.ai/v1", "grok": "https://api.x.ai/v1", "cerebras": "https://api.cerebras.ai/v1",
    "huggingface": "https://router.huggingface.co/v1", "cohere": "https://api.cohere.ai/compatibility/v1",
    "moonshot": "https://api.moonshot.ai/v1", "moonshotai": "https://api.moonshot.ai/v1",
    "nvidia": "https://integrate.api.nvidia.com/v1", "github": "https://models.github.ai/inference",
    "perplexity": "https://api.perplexity.ai",
}
"""Names of services in other tools, with the address of the OpenAI-compatible service that each of them has."""

_FAMILIES = {"gpt": "openai", "o1": "openai", "o3": "openai", "o4": "openai", "claude": "anthropic"}
_LABEL = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """One model as the user named it. `label` and `base_url` are given for `compatible` only.

    The `model` of `command` is a program and its arguments, in a shell's quotes.
    """

    scheme: str
    model: str
    label: str | None = None
    base_url: str | None = None

    @property
    def name(self) -> str:
        """Its name in reports, votes and prices: `openai:gpt-5.2`, or `LABEL:MODEL` for a compatible server."""
        return self.scheme if self.free else f"{self.label or self.scheme}:{self.model}"

    @property
    def free(self) -> bool:
        """Whether it costs nothing and no service is asked: the offline model, or a judge who is a person."""
        return self.scheme in FREE

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds its key; None for a free model."""
        if self.label is not None:
            return key_variable_of(self.label)
        return KEY_VARIABLES.get(self.scheme)

    @property
    def command(self) -> tuple[str, ...]:
        """The program and its arguments, for `command`; a `~` before the program is the home folder."""
        words = shlex.split(self.model) if self.scheme == COMMAND else []
        return (str(Path(words[0]).expanduser()) if words[0][:1] == "~" else words[0], *words[1:]) if words else ()

    @property
    def account(self) -> str:
        """The account, whose models share the provider's rate limit: the same service with the same key."""
        return f"{self.key_variable}@{self.base_url or ''}"


def key_variable_of(label: str) -> str:
    """The environment variable that holds the key of a compatible service."""
    return f"{label.upper().replace('-', '_')}_API_KEY"


def parse_spec(text: str) -> ModelSpec:
    """The model that `text` names. Raises UsageError with the nearest form if it names none."""
    scheme, colon, rest = text.strip().partition(":")
    if scheme in FREE and not colon:
        return ModelSpec(scheme=scheme, model="")
    if scheme not in FORMS or scheme in FREE or not colon:
        raise UsageError(_unknown(text))
    if scheme == "compatible":
        return _compatible(text, rest)
    if not rest.strip():
        raise UsageError(f"{text!r} names no model: write {FORMS[scheme]}")
    if scheme == COMMAND:
        _require_words(text, rest)
    return ModelSpec(scheme=scheme, model=rest.strip())


def _require_words(text: str, rest: str) -> None:
    """Raise UsageError for a command whose quotes do not end, or that has no program."""
    try:
        program = shlex.split(rest)[0]
    except ValueError as error:
        raise UsageError(f"{text!r} cannot be split into a program and its arguments: {error}") from None
    if not program:
        raise UsageError(f"{text!r} names no program: write {FORMS[COMMAND]}, such as command:./ask.sh")


def parse_specs(text: str) -> tuple[ModelSpec, ...]:
    """Several models to try in turn, separated by commas, such as `anthropic:claude-sonnet-5,offline`."""
    schemes = "|".join(FORMS)
    parts = re.split(rf",\s*(?=(?:{schemes})(?::|,|\s*$))", text) if text.strip() else [text]
    return tuple(parse_spec(part) for part in parts)


def key_of(spec: ModelSpec, environ: Mapping[str, str]) -> str | None:
    """The key of this model from the environment.

    Raises UsageError with the variable if a service that needs a key has none. A compatible server may work
    without a key.
    """
    variable = spec.key_variable
    if variable is None:
        return None
    key = environ.get(variable, "").strip()
    if not key and spec.scheme != "compatible":
        raise UsageError(
            f"{spec.name!r} needs a key in the environment variable {variable}: set it, or choose --model offline"
        )
    if not (key.isascii() and key.isprintable()):
        raise UsageError(
            f"the key in the environment variable {variable} contains characters that are not allowed in a key"
        )
    return key or None


def base_url_of(spec: ModelSpec, environ: Mapping[str, str]) -> str | None:
    """The URL of the service, from the spec or the environment; None for the service's default."""
    variable = URL_VARIABLES.get(spec.scheme, "")
    given = environ.get(variable, "").strip()
    if spec.base_url is not None or not given:
        return spec.base_url
    _require_plain_url(given, f"the URL in the environment variable {variable}", f"put the key in {spec.key_variable}")
    return given


def _require_plain_url(text: str, where: str, fix: str) -> None:
    try:
        url = urlsplit(text)
        valid = url.scheme in ("http", "https") and bool(url.hostname) and (url.port is None or url.port > 0)
    except ValueError:
        valid = False
    if not valid:
        raise UsageError(f"{where} must be http://HOST… or https://HOST…")
    if url.username is not None or url.password is not None or url.query:
        raise UsageError(f"{where} must hold no user, password or query, since it is stored with the run: {fix}")


def _compatible(text: str, rest: str) -> ModelSpec:
    label, at, target = rest.partition("@")
    base_url, _, model = target.partition("#")
    form = FORMS["compatible"]
    if not (at and base_url and model.strip()):
        raise UsageError(
            f"{_without_userinfo(text)!r} is not of the form {form}, such as "
            "compatible:ollama@http://localhost:11434/v1#qwen3:8b"
        )
    if not _LABEL.fullmatch(label) or label.lower() in FORMS:
        raise UsageError(
            f"{label!r} cannot be the LABEL of a compatible model: use letters, digits, - and _, "
            f"but none of {', '.join(FORMS)}, so that no other service's key is sent there"
        )
    where = f"the URL of the compatible model {label!r}"
    _refuse_wrong_end(label, base_url, model.strip())
    _require_plain_url(base_url, where, f"put the key in {key_variable_of(label)}")
    return ModelSpec(scheme="compatible", model=model.strip(), label=label, base_url=base_url.rstrip("/"))


_ENDS = re.compile(r"/(chat/completions|completions|responses|messages|models)/*$")


def _refuse_wrong_end(label: str, base_url: str, model: str) -> None:
    """Raise UsageError for the address of a single page of a service, or of one version of Azure's older service."""
    plain, _, query = base_url.partition("?")
    if "api-version=" in query:
        host = _without_userinfo(plain.split("/openai", 1)[0])
        raise UsageError(
            f"the URL of the compatible model {label!r} names a version (api-version): use the address that needs "
            f"none, 'compatible:{label}@{host}/openai/v1#{model}', with the key in {key_variable_of(label)}"
        )
    if _ENDS.search(plain):
        raise UsageError(
            f"the URL of the compatible model {label!r} ends with the page that MEMENTO adds itself: write "
            f"'compatible:{label}@{_without_userinfo(_ENDS.sub('', plain))}#{model}'"
        )


def _unknown(text: str) -> str:
    shown = _without_userinfo(text)
    forms = ", ".join(FORMS.values())
    scheme, colon, rest = text.strip().partition(":")
    where = ELSEWHERE.get(scheme.lower())
    if where is not None:
        label, model = scheme.lower().replace("_", "-"), rest.strip() or "MODEL"
        variable = key_variable_of(label)
        return (
            f"unknown model {shown!r}: such a service is used by its address, as in "
            f"'compatible:{label}@{where}#{model}', with its key, if it needs one, in {variable}"
        )
    family = next((home for prefix, home in _FAMILIES.items() if scheme.lower().startswith(prefix)), None)
    if family and not colon:
        return f"unknown model {shown!r}: did you mean '{family}:{scheme}'? (a model is one of {forms})"
    near = nearest(scheme.lower(), FORMS, most=1, cutoff=0.5)
    if not near:
        return f"unknown model {shown!r}: a model is one of {forms}"
    meant = f"{near[0]}:{rest}" if rest and near[0] not in (*FREE, "compatible") else FORMS[near[0]]
    return f"unknown model {shown!r}: did you mean {meant!r}? (a model is one of {forms})"


def _without_userinfo(text: str) -> str:
    return re.sub(r"(://)[^/@#]*@", r"\1", text)


# Which models are known to take no images.


_TEXT_ALONE = {
    "openai": re.compile(r"gpt-3\.5|gpt-4(-32k)?(-0314|-0613)?$|o1-(mini|preview)|o3-mini|(babbage|davinci)-002"),
    "anthropic": re.compile(r"claude-(2|instant)"),
}


def reads_text_alone(spec: ModelSpec) -> bool:
    """Whether a model is known to take no images. Of most models, and of all compatible servers, nothing is known."""
    if spec.scheme == COMMAND:
        return True
    pattern = _TEXT_ALONE.get(spec.scheme.removesuffix("-chat"))
    return pattern is not None and pattern.match(spec.model) is not None
