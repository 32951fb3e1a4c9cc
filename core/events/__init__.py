"""Orders go down, facts come up. Orders are imperative, have one addressee, and only a keeper issues them.
Facts are in the past tense, and any component may listen to them. `order_ids` defines the ids of orders.

    base        what orders and facts have in common, and what a fact says of itself
    run         a run as a whole: its beginning and end, its stages, what a person does to it, and its rollouts
    proposals   requests for programs, the conversations that lead to them, and the critic whose words they show
    evaluators  probes, the examination of evaluator candidates, and the votes of judges
    search      what keepers conclude, the tuning of constants, and the gate before expensive episodes

The log stores every fact that this package exports. A new fact needs its class, its name below, its words in
`tui/fact_words.py`, and those who make it and decide on it; views count it where people want to see it.
"""

from .base import Fact, Order, Withdraw
from .evaluators import (
    AttackEvaluator,
    EvaluatorAttacked,
    EvaluatorChosen,
    EvaluatorExamined,
    EvaluatorHardened,
    EvaluatorPoolScored,
    Examine,
    Judge,
    ProbesRecorded,
    RecordProbes,
    VoteCast,
)
from .proposals import (
    AskedAgain,
    Compute,
    Criticise,
    Criticised,
    LookCloser,
    ProposalFailed,
    ProposalMade,
    Propose,
    ProposeAttack,
    ProposeEvaluator,
    ToolAnswered,
    TryProgram,
    TurnTaken,
)
from .run import (
    RULES,
    EnvironmentRemembered,
    EpisodeEnded,
    EpisodeScored,
    FinalMeasured,
    HintGiven,
    ReplayDiffered,
    RobustMeasured,
    Roll,
    RolledAhead,
    RunContinued,
    RunPaused,
    RunResumed,
    RunStarted,
    RunStopped,
    ScoreEpisode,
    ServiceNoted,
    StageEntered,
    WhatIfBegun,
)
from .search import (
    ArchiveChanged,
    BranchEnded,
    CandidateAccepted,
    CandidateRejected,
    CandidateScored,
    ConstantsTried,
    DuplicateFound,
    EliteChanged,
    EliteChosen,
    EliteConfirmed,
    EvaluatorMoved,
    GateDecided,
    InitialChosen,
    IslandsChanged,
    Migrated,
    PopulationChanged,
    ProposalStopped,
    SaturationChecked,
    SearchEnded,
    SpeculationEnded,
    TryConstants,
    TryOnTwin,
    TuningEnded,
    TwinTried,
)

__all__ = [
    "RULES", "ArchiveChanged", "AskedAgain", "AttackEvaluator", "BranchEnded", "CandidateAccepted",
    "CandidateRejected", "CandidateScored", "Compute", "ConstantsTried", "Criticise", "Criticised", "DuplicateFound",
    "EliteChanged", "EliteChosen", "EliteConfirmed", "EnvironmentRemembered", "EpisodeEnded", "EpisodeScored",
    "EvaluatorAttacked", "EvaluatorChosen", "EvaluatorExamined", "EvaluatorHardened", "EvaluatorMoved",
    "EvaluatorPoolScored", "Examine", "Fact", "FinalMeasured", "GateDecided", "HintGiven", "InitialChosen",
    "IslandsChanged", "Judge", "LookCloser", "Migrated", "Order", "PopulationChanged", "ProbesRecorded",
    "ProposalFailed", "ProposalMade", "ProposalStopped", "Propose", "ProposeAttack", "ProposeEvaluator",
    "RecordProbes", "ReplayDiffered", "RobustMeasured", "Roll", "RolledAhead", "RunContinued", "RunPaused",
    "RunResumed", "RunStarted", "RunStopped", "SaturationChecked", "ScoreEpisode", "SearchEnded", "ServiceNoted",
    "SpeculationEnded", "StageEntered", "ToolAnswered", "TryConstants", "TryOnTwin", "TryProgram", "TuningEnded",
    "TurnTaken", "TwinTried", "VoteCast", "WhatIfBegun", "Withdraw",
]
