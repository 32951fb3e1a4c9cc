"""Parses the user's names of language models, such as `openai:gpt-5.2`, without importing any client."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from ..core.errors import UsageError, nearest
from .providers import ASK, COMMAND, COMPATIBLE, FORMS, OFFLINE, PROVIDERS, PYDANTIC_AI, Provider

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
_WHOLE_NAMES = tuple(scheme for scheme, form in FORMS.items() if ":" not in form)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """One model as the user named it.

    `label` and `base_url` are given for `compatible`; of `pydantic-ai` the `label` is pydantic-ai's provider. The
    `model` of `command` is a program and its arguments, in a shell's quotes.
    """

    scheme: str
    model: str
    label: str | None = None
    base_url: str | None = None

    @property
    def provider(self) -> Provider:
        """The entry of its scheme in the table of providers."""
        return PROVIDERS[self.scheme]

    @property
    def name(self) -> str:
        """Its name in reports, votes and prices: `openai:gpt-5.2`, or `LABEL:MODEL` for a compatible server."""
        if self.scheme in _WHOLE_NAMES:
            return self.scheme
        return f"{self.label if self.scheme == COMPATIBLE else self.scheme}:{self.rest}"

    @property
    def rest(self) -> str:
        """What follows its scheme, or its label: the model, and where it is one of pydantic-ai's, its provider."""
        return f"{self.label}:{self.model}" if self.scheme == PYDANTIC_AI else self.model

    @property
    def as_written(self) -> str:
        """The name as a user writes it."""
        if self.scheme in _WHOLE_NAMES:
            return self.scheme
        return f"{self.scheme}:{f'{self.label}@{self.base_url}#' if self.base_url else ''}{self.rest}"

    @property
    def free(self) -> bool:
        """Whether it costs nothing and no service is asked: the offline model, or a judge who is a person."""
        return self.provider.free

    @property
    def is_offline(self) -> bool:
        """Whether it is the embedded mutator."""
        return self.scheme == OFFLINE

    @property
    def is_person(self) -> bool:
        """Whether a person, or another program, answers in files of the run's folder."""
        return self.scheme == ASK

    @property
    def is_command(self) -> bool:
        """Whether it is a program on this machine."""
        return self.scheme == COMMAND

    @property
    def is_service(self) -> bool:
        """Whether requests to it go through a client, so that settings of sampling apply."""
        return self.provider.client is not None

    @property
    def is_compatible(self) -> bool:
        """Whether it is a server at an address of the user's, of whose abilities nothing is known."""
        return self.scheme == COMPATIBLE

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds its key; None for a free model."""
        return self.provider.key_variable if self.label is None else key_variable_of(self.label)

    @property
    def url_variable(self) -> str:
        """The environment variable with another address of the service; "" where there is none."""
        if self.scheme == PYDANTIC_AI:
            return key_variable_of(self.label or "").removesuffix("API_KEY") + "BASE_URL"
        return self.provider.url_variable or ""

    @property
    def price_list(self) -> tuple[str, str] | None:
        """The provider and the model in the list of genai-prices; None where no list has its price."""
        listed = self.provider.prices
        return None if listed is None else (listed or self.label or "", self.model)

    @property
    def command(self) -> tuple[str, ...]:
        """The program and its arguments, for `command`; a `~` before the program is the home folder."""
        words = shlex.split(self.model) if self.is_command else []
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
    if scheme in _WHOLE_NAMES and not colon:
        return ModelSpec(scheme=scheme, model="")
    if scheme not in FORMS or scheme in _WHOLE_NAMES or not colon:
        raise UsageError(_unknown_words(text))
    if scheme == COMPATIBLE:
        return _compatible(text, rest)
    if not rest.strip():
        raise UsageError(f"{text!r} names no model: write {FORMS[scheme]}")
    if scheme == COMMAND:
        _require_words(text, rest)
    if scheme == PYDANTIC_AI:
        label, _, model = rest.strip().partition(":")
        if not (_LABEL.fullmatch(label) and model):
            raise UsageError(f"{text!r} is not of the form {FORMS[scheme]}, such as pydantic-ai:groq:NAME")
        return ModelSpec(scheme=scheme, model=model, label=label)
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
    schemes = "|".join(map(re.escape, FORMS))
    parts = re.split(rf",\s*(?=(?:{schemes})(?::|,|\s*$))", text) if text.strip() else [text]
    return tuple(parse_spec(part) for part in parts)


def key_of(spec: ModelSpec, environ: Mapping[str, str]) -> str | None:
    """The key of this model from the environment.

    Raises UsageError with the variable if a service that needs a key has none. Other servers may work without a key.
    """
    variable = spec.key_variable
    if variable is None:
        return None
    key = environ.get(variable, "").strip()
    if not key and spec.provider.needs_key:
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
    variable = spec.url_variable
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


def _unknown_words(text: str) -> str:
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
    meant = f"{near[0]}:{rest}" if rest and near[0] not in (*_WHOLE_NAMES, COMPATIBLE, PYDANTIC_AI) else FORMS[near[0]]
    return f"unknown model {shown!r}: did you mean {meant!r}? (a model is one of {forms})"


def _without_userinfo(text: str) -> str:
    return re.sub(r"(://)[^/@#]*@", r"\1", text)


def reads_text_alone(spec: ModelSpec) -> bool:
    """Whether a model is known to take no images. Of most models, and of all compatible servers, nothing is known."""
    pattern = spec.provider.text_alone
    return pattern is not None and pattern.match(spec.model) is not None
