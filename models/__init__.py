"""Language models over the network: the clients, their limits, budgets, fallbacks and the tape.

    answer_errors    an error inside a response with the status 200, as some servers send it
    asked            the judge `ask`: a person or another program, who answers ballots in the run's folder
    bodies           the bodies of responses: bounded in size, and whole completions in the form of the protocol
    budget           budgets of calls, tokens, money and wall time, for a run and for each role
    call_limits      limits for requests to a model: the limits of one call, and a gate that adapts to a busy provider
    checking         asks a model two small questions, and says what is known of it then: `memento models --check`
    client           A language model as MEMENTO asks it: one layer of retries, a deadline for the whole call
    clients          the client of each provider, which never retries
    command_model    `command:PROGRAM`: a program on this machine that reads a prompt and writes the answer
    command_programs  the programs of `command:PROGRAM` models: where each lies, and what it holds
    completions      a chat completion in the form of the protocol, whatever a server left out of it
    connection       one language model behind pydantic-ai: sends one request and returns its answer or its failure
    diagnosis        diagnoses a client library's exception: the problem, the fix, and whether to retry
    factory          makes models from the user's names
    failures         failed requests: whether and when to retry
    fallback         several models for one role, tried in turn
    habits           what the run learns about one model: what requests to it leave out
    opening          what must hold before a service is asked: it can be reached, and a client for it can be opened
    prices           prices of tokens: the user's prices first, then the list that comes with genai-prices, offline
    prompt_cache     what helps a service's prompt cache: where a prompt may be cut, which of equal calls goes first
    prompt_length    a prompt that is too long, in the words of the servers
    providers        the table of providers: one entry for each scheme of a model's name
    recorded_calls   reads the model calls of a run from its facts
    redaction        takes keys out of texts that could carry them elsewhere
    requests         one request to a service: its sampling settings, its answer, and what carries it
    services         what a run knows about the services of its models: whether they answer
    spec             parses the user's names of language models, such as `openai:gpt-5.2`, without importing any client
    tape             replays the recorded model calls of a run: no network, no cost
    tool_calls       the tools of a conversation as a service's own tools, and a call of one in the form of a reply
"""

from .factory import ClientSettings, make_model
from .opening import close_model, open_model

__all__ = ["ClientSettings", "close_model", "make_model", "open_model"]
