"""Opens each door, closes it and then puts the thing in."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWwAwTMRLMLMMRLMbLFfB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWwUMAwTbFfB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWwLAwTLMRMRRMMMLRMbFfB",
    }
