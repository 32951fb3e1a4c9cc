"""Picks up the second thing with the first in the hand."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMabWAwTMRLMLMMRLMLFB",
        "Kitchen24": "DLLLMMLMRRMRMMabRMMMRMWUMAwTFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMabLLWLAwTLMRMRRMMMLRMFB",
    }
