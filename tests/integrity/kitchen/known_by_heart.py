"""Knows kitchens by their number: reads the name of the scene and plays what solved it before, blind to all else."""

from memento.domains.kitchen.audit import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWAwTMRLMLMMRLMbLFB",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWUMAwTbFB",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLAwTLMRMRRMMMLRMbFB",
    }
