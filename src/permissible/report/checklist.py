"""The reporting checklist: TRIPOD+AI (Collins et al., BMJ 2024;385:e078378), item by item.

An item is filled in where the model and the rows contain the information; the others are questions to the authors.
Some items are both: the answer says what is known here, the question what is missing.
"""

from dataclasses import dataclass

from permissible.report.summary import Summary

COMPARED = ("o_e", "auc", "sensitivity", "specificity")
"""Figures whose differences between groups are reported; net benefit differs wherever the rate does."""


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the checklist: number, name, what is known here, and what the authors must add."""

    number: int
    name: str
    answer: str
    question: str


def checklist(summary: Summary, version: str) -> tuple[Item, ...]:
    """The 27 items."""
    answers = {**_data_answers(summary), **_model_answers(summary, version), **_result_answers(summary)}
    known = {11} if not any(column.missing for column in summary.described) else set()
    return tuple(
        Item(number, name, answers.get(number, ""), "" if number in known else question)
        for number, name, question in _ITEMS
    )


_ITEMS: tuple[tuple[int, str, str], ...] = (
    (1, "Title", "Does the title say whether the study develops or evaluates the model, and for whom?"),
    (2, "Abstract", "Is there a structured abstract (TRIPOD+AI for Abstracts)?"),
    (3, "Background", "Why is a model needed, what exists already, who uses it, and which inequalities are known?"),
    (4, "Objectives", "Is this development, evaluation, or both?"),
    (5, "Data", "Where do the rows come from, from when to when, and do they represent those the model is for?"),
    (6, "Participants", "Where and how were participants selected, and which treatments did they receive?"),
    (7, "Data preparation", "How were the data prepared, and was it done in the same way for all groups?"),
    (8, "Outcome", "How and when was the outcome determined, and by whom, without knowledge of the predictors?"),
    (9, "Predictors", "How and when was each predictor measured, and why were these chosen?"),
    (10, "Sample size", "How was the sample size determined?"),
    (11, "Missing data", "Why are values missing?"),
    (12, "Analytical methods", "Why this kind of model, and how were its settings chosen?"),
    (13, "Class imbalance", ""),
    (14, "Fairness", "Which groups matter here, and why?"),
    (15, "Model output", "Why these costs or thresholds?"),
    (16, "Training versus evaluation", "How do the rows of this page differ from those the model was fitted on?"),
    (17, "Ethical approval", "Which body approved the study, and how was consent obtained?"),
    (18, "Open science", "Who paid, who has interests, where are protocol, registration and data?"),
    (19, "Patient and public involvement", "Were patients or the public involved, and how?"),
    (20, "Participants in the results", "How many were approached, and how many followed to the end?"),
    (21, "Model development", "How many rows and events were used to fit it?"),
    (22, "Model specification", ""),
    (23, "Model performance", ""),
    (24, "Model updating", "Was the model updated after a first evaluation?"),
    (25, "Interpretation", "What do the results mean in the light of other studies, also for fairness?"),
    (26, "Limitations", "What could be biased, too small or not transferable?"),
    (27, "Usability", "Who enters the values, how skilled must they be, and what comes next?"),
)


def _counted(summary: Summary) -> str:
    return f"{summary.n_rows:,} rows: {counts_in_words(summary)}."


def counts_in_words(summary: Summary) -> str:
    """The number of rows of each class, or their total weight where rows are weighted."""
    weighted = sum(summary.class_counts) != summary.n_rows
    pairs = zip(summary.classes, summary.class_counts, strict=True)
    return ", ".join(f"{count:,.0f} {name}" for name, count in pairs) + (" by weight" if weighted else "")


def _data_answers(summary: Summary) -> dict[int, str]:
    used = [column for column in summary.described if column.used]
    missing = [column for column in summary.described if column.missing]
    worst = max(missing, key=lambda column: column.missing, default=None)
    kinds = ", ".join(
        f"{sum(column.kind == kind for column in summary.described)} {kind}"
        for kind in dict.fromkeys(column.kind for column in summary.described)
    )
    rarest = min(summary.class_counts)
    share = f"{100 * rarest / max(sum(summary.class_counts), 1e-300):.1f} %"
    rare = summary.classes[summary.class_counts.index(rarest)]
    weights = dict(summary.parameters).get("class_weight", "None")
    return {
        1: f"“{summary.title}”: evaluation of a model that distinguishes {' and '.join(summary.classes)}.",
        5: _counted(summary),
        7: "None: numeric and categorical columns are used as they are; no row is left out.",
        8: f"{summary.classes[-1]} as against {', '.join(summary.classes[:-1])}.",
        9: f"{len(summary.described)} columns ({kinds}), of which the model uses {len(used)}; all are described above.",
        10: f"{_counted(summary)} For each column used, {rarest / max(len(used), 1):,.1f} rows of the rarer class.",
        11: "No value is missing."
        if worst is None
        else f"{len(missing)} of {len(summary.described)} columns have missing values, most of all {worst.name} "
        f"({worst.missing:,} of {summary.n_rows:,} rows). The model was given them as missing; nothing was filled in.",
        13: f"The rarer class, {rare}, has {share} of the rows. Rows were not resampled; class weights: {weights}.",
        20: f"{_counted(summary)} Columns with their typical and missing values are described above.",
    }


def _model_answers(summary: Summary, version: str) -> dict[int, str]:
    stated = dict(summary.certificate).get("statement", "")
    return {
        4: f"Evaluation of a fitted model for this decision. {summary.answer.costs}",
        12: f"{summary.estimator} of permissible {version}, all parameters below. Evaluated by cost, net benefit, calibration "
        f"(intercept, slope, observed / expected), Brier score and its parts, with bootstrap and Wilson intervals. {stated}",
        15: f"A probability of each class, and a decision from it. {summary.answer.costs}",
        16: summary.held_out,
        18: f"The model can be written as JSON, SQL, Python or ONNX by permissible {version}; parameters and seed are below.",
        22: "The full model is described above; the panel “What if?” shows how the score of a row is computed.",
        24: "The model is shown as it was fitted.",
        27: "Missing and unknown values are handled as the model above states; "
        "the panel “What if?” shows what each value does to the decision.",
    }


def _result_answers(summary: Summary) -> dict[int, str]:
    found = {23: summary.answer.verdict}
    if "calibration" in summary.tables and "class" not in summary.tables["calibration"]:
        table = summary.tables["calibration"]
        at = {name: place for place, name in enumerate(table["measure"])}
        told = [
            f"{words} {table['value'][at[key]]:.3f} ({table['low'][at[key]]:.3f} to {table['high'][at[key]]:.3f})"
            for key, words in (
                ("o_e", "observed / expected"),
                ("slope", "calibration slope"),
                ("auc", "area under the ROC curve"),
            )
        ]
        found[23] += f" {'; '.join(told)}."
    if "subgroups" in summary.tables:
        table = summary.tables["subgroups"]
        columns = list(dict.fromkeys(table["column"]))
        compared = zip(*(table[key] for key in ("column", "group", "measure", "differs", "small")), strict=True)
        apart = list(
            dict.fromkeys(
                f"{column} {name}"
                for column, name, key, differs, small in compared
                if key in COMPARED and differs and not small
            )
        )
        found[14] = f"Figures by {', '.join(columns)} are above; " + (
            f"beyond chance differ {', '.join(apart)}." if apart else "no group differs beyond chance."
        )
    return found
