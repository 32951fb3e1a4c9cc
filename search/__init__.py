"""The search: pure decisions, one keeper per method, and the sequencer that joins the stages of a run.

    ahead             which episodes a search will probably order next, so that idle workers can roll them out ahead
    conversing        proposals as conversations: a keeper around the keeper of a run
    criticising       looks of a critic before prompts: a keeper around the keeper of a run
    evaluator_search  evaluator evolution (paper, Algorithm 1): a pool of programs, scored on T_0
    fresh             what a run sees of its programs on fresh episodes: challenges, the last choice, fresh starts
    gate              the gate: a candidate is tried on the domain's cheap twin before its expensive episodes
    hardening         attackers in the loop: rounds in which the chosen evaluator is attacked and revised
    islands           memetic searches side by side, each with its elite and memory; the best elite is the run's
    meetings          the common part of all searches: their state, and the programs' meetings on fresh episodes
    memento           single-elite memetic policy search (paper, Algorithm 2): hill-climb with memory, macro-mutation
    moving            an evaluator that moves: what a search remembers for it, and the trial of a successor
    moving_search     the keepers of a search whose evaluator moves
    options           the options of a search, and how many slots of a generation a budget of episodes allows
    outcomes          the conclusions of a search: the result of a branch, the elite of a generation, and the end
    paired            the paired test of two programs on common seeds
    random_search     random search: independent programs from the initial prompt, the best of them kept
    revolve           REvolve, adapted to policies: islands of programs, bred by crossover and macro-mutation
    rollout_plan      how every candidate of a stage is evaluated: its episodes with common seeds, and fresh ones
    rounds            search in rounds: a generation's proposals are requested together
    selection         the state of the memetic search and its selection: accepts, branch winners, the elite
    sequencer         the sequencer joins the stages of a run: p_0 and its rollouts T_0, evaluator, policy search
    stages            the first and the last stage of a run: p_0 with T_0, its rollouts
    trials            A trial: one program between proposal and evaluated candidate, the same in every search method
    tried             the lineage of a candidate, and what was tried and did not stay
    tuning            one slot of the tuning branch: an optimiser tries other constants; what proves better is proposed
    tuning_branch     the slots of a generation that tune constants, and what becomes of what they find
    tuning_search     the optimisers of a tuning: they ask for points in the unit cube and learn the fitness of each
    tuning_values     the values of a program's constants in a tuning: as points, and for a later tuning
    what_if           what if: further draws of one recorded proposal, each rolled out on the episodes of its parents
"""
