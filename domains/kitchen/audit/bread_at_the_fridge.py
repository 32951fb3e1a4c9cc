"""Holds the Bread in front of the open Fridge and never lets go."""

from .scripted import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen11": "DLLLMRRRMLMMRLMaWAwTMRLMLMMRLMbLF",
        "Kitchen24": "DLLLMMLMRRMRMMaRMMMRMWUMAwTbF",
        "Kitchen10": "DLLLMRRRRMMMMRLLMMLMMRMMMLMMRLMMRLMaLLWLAwTLMRMRRMMMLRMbF",
    }
