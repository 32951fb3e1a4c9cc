"""Puts the Apple and the Bread in without opening a door."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaATMRLMLMMRLMbLB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMUMATbB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLLATLMRMRRMMMLRMbB",
    }
