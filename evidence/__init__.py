"""Evidence: comparisons of methods, their numbers, and the page that shows them.

    archive              evidence as one small file: a report can be stored, sent and rendered again without its runs
    archive_join         archives of one comparison as one: its tasks and seeds may be run in parts
    baseline_rows        a learned baseline as a row of a report, from its log
    comparing            carries out a comparison: `memento run`, `resume` and `evaluate` as processes
    descent              the descent of an elite for a page: nodes on a rail, and the change at each step
    episode_tables       tables of the episodes of a search: a budget, confirmations, and a gate
    experiment           an experiment: tasks × models × arms × seeds and the final measures
    csv_files            the rows behind a report, as CSV files: every number on the page can be computed from them
    figures              the figures of a report: the charts of a group of runs, each with its title and its legend
    findings             the findings of a report: spreads, tests, correlations, rates and costs
    folder               the folder of a comparison: its plan, its runs, its measures and its journal
    learned_tables       learned baselines in a report: what was trained exactly, what it cost, what it does
    loading              loads the evidence of a report: single runs, or a comparison with its measures
    opening              the first screen of a report: the answer in one sentence, its number, and one figure
    page                 the report as one self-contained HTML page: no scripts, nothing from elsewhere
    page_tables          tables in the paper's layout, and correlations
    parts                the figures and tables of a report as files for papers and slides: SVG, CSV and LaTeX
    plan                 the runs of an experiment, their arguments, and a check that all of them can be run
    published            the paper's published values
    published_elsewhere  values that others have published for tasks outside the paper
    published_setting    the setting of the paper's published values, and how a run differs from it
    published_tables     tables of our final measures next to values that others have published
    records              one run as evidence: the numbers of its log for tables and curves
    scheduling           chooses the next units of a comparison from its progress
    sentences            the findings in words: one plain sentence per comparison
    statistics           the statistics of a comparison, by scipy
    summary              the results of a comparison so far, one row per task, model and arm
    svg                  charts as SVG text
    tables               the tables of a report, as text in rows and columns
    trainings            agents that learn without a language model, which extensions bring as arms
    validity             how far a fitness can be trusted: its rank correlation with success, and the mislead gap
"""
