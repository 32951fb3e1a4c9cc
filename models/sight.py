"""Which models are known to take no images."""

import re

from .spec import ModelSpec

_TEXT_ALONE = {
    "openai": re.compile(r"gpt-3\.5|gpt-4(-32k)?(-0314|-0613)?$|o1-(mini|preview)|o3-mini|(babbage|davinci)-002"),
    "anthropic": re.compile(r"claude-(2|instant)"),
}


def reads_text_alone(spec: ModelSpec) -> bool:
    """Whether a model is known to take no images. Of most models, and of all compatible servers, nothing is known."""
    pattern = _TEXT_ALONE.get(spec.scheme.removesuffix("-chat"))
    return pattern is not None and pattern.match(spec.model) is not None
