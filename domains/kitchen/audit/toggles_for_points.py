"""Opens and closes the doors again and again, to be paid for interactions."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWwWwWwWwWwWwWwTMRLMLMMRLMbLFfFfFfFfFfFfF",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWwWwWwWwWwWwWUMwTbFfFfFfFfFfFfF",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWwWwWwWwWwWwWLwTLMRMRRMMMLRMbFfFfFfFfFfFfF",
    }
