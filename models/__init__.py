"""Language models over the network: the clients, their limits, budgets, fallbacks and the tape.

    asked        the judge `ask`: a person or another program, who answers ballots in the run's folder
    bodies       what services send: bounded in size, and whole answers in the form of the protocol
    budget       budgets of calls, tokens, money and wall time, for a run and for each role
    call_limits  limits for requests to a model: the limits of one call, and a gate that adapts to a busy provider
    checking     asks a model two small questions, and says what is known of it then: `memento models --check`
    client       A language model as MEMENTO asks it: one layer of retries, a deadline for the whole call
    command      `command:PROGRAM`: a program on this machine that reads a prompt and writes the answer
    connection   one language model behind pydantic-ai: sends one request and returns its answer or its failure
    diagnosis    diagnoses a client library's exception: the problem, the fix, and whether to retry
    factory      makes models from the user's names
    opening      what must hold before a service is asked: it can be reached, and a client for it can be opened
    prices       prices of tokens: the user's prices first, then the list that comes with genai-prices, offline
    providers    what differs between providers: the client library of each, and what its cache needs
    services     what a run knows about the services of its models: the gate of each account, outages
    spec         parses the user's names of language models, such as `openai:gpt-5.2`, without importing any client
    tape         replays the recorded model calls of a run: no network, no cost, the same answers to the same prompts
"""

from .factory import ClientSettings, close_model, make_model, open_model

__all__ = ["ClientSettings", "close_model", "make_model", "open_model"]
