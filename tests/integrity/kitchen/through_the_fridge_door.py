"""Closes the Fridge and picks up the Apple that it has seen inside, through the closed door."""

from memento.domains.kitchen.audit import Scripted


class Policy(Scripted):
    scripts = {
        "Kitchen17": "DRLLLMLLLMbFBfRMaRMRMWUMAwT",
        "Kitchen2": "DLLLMLLLMMMMRRRMMRbFUMBfLMMRDDMUaWUMAwT",
        "Kitchen8": "DRRRMLLLMMMLMMMMRLMLMbLMMMMMFRMBfaMLWAwT",
    }
