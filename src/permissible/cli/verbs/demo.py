"""`permissible demo`: a decision with unequal costs on real data, what each way to take it costs, the model in words, a page."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from permissible.cli import options

if TYPE_CHECKING:
    from permissible.decisions import CostMatrix
    from permissible.evaluation.cross_validation import Figure, Tick
    from permissible.types import AnyArray, FloatArray, IntArray

FOLDS = 10
REFERRAL = 0.4
OURS, SHORT, PLAIN = "permissible", "permissible, short list", "logistic regression"


def command(
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the page.")] = Path(
        "permissible-demo.html"
    ),
    data: Annotated[
        Path | None, options.optional("--data", "Also write the rows here, as CSV, to try fit with.")
    ] = None,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Decide about 1,000 loans where a bad one costs five times a refused good one, and may be referred to a person.

    The table says what each way to decide costs an applicant whom its model has not seen. The data (Statlog German credit,
    UCI, CC BY 4.0) come with the package; nothing is downloaded.

    Example: permissible demo
    """
    import gzip

    from permissible.cli import show
    from permissible.cli.io.contenders import contenders
    from permissible.cli.io.writing import needs_report
    from permissible.datasets import GERMAN_CREDIT, german_credit
    from permissible.models.files.atomic import write
    from permissible.report import write_report

    needs_report(output)
    if data is not None:
        write(data, gzip.decompress(GERMAN_CREDIT.read_bytes()))
    X, y = german_credit()
    if not json:
        show.say(f"{len(y)} applicants, {len(X)} columns; {sum(y == 'went bad')} loans went bad. Whom to refuse?")
        show.say("A bad loan costs 5, refusing a good applicant 1, a closer look by a person 0.4.")
    with show.progress("10 folds of each model", json) as tick:
        ways, figures, proba = compared(X, y, seed, tick)
    model = contenders(seed)[SHORT]().fit(X, y)
    title = f"Whom to refuse a loan? Each applicant judged by a model of the other {FOLDS - 1} folds"
    write_report(model, X, y, output, decision=costs(), title=title, folds=figures, proba=proba)
    said = findings(ways)
    if json:
        table = {way.name: {"cost": way.cost, "standard_error": way.error, "refused": way.refused} for way in ways}
        show.as_json({"costs": table, "findings": said, "text": model.to_text(), "report": str(output)})
        return
    lines = [
        [way.name, f"{way.cost:.3f}", f"{way.error:.3f}", f"{way.refused:.0%}", way.share_referred] for way in ways
    ]
    head = ["", "cost an applicant", "standard error", "refused", "referred"]
    show.table(
        f"\nEach applicant judged by a model that has not seen them ({FOLDS} folds)", head, lines, right=(1, 2, 3, 4)
    )
    for sentence in said:
        show.say(sentence)
    if not any(way.name.startswith("LightGBM") for way in ways):
        show.say("LightGBM is not installed here; with it (`pip install lightgbm`) the table has its rows too.")
    show.say(f"\nThe short list, {len(model.rules_)} rules fitted to all {len(y)}:\n")
    show.say(model.to_text())
    show.say(f"\nThe page is in {output.resolve()}: open it in a browser.")


def costs(referral: float | None = None) -> "CostMatrix":
    """The costs that the data came with; rows: paid back, went bad; columns: grant, refuse."""
    from permissible.datasets import COSTS
    from permissible.decisions import CostMatrix

    return CostMatrix(COSTS, referral)


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """One way to decide: what each applicant cost, and what was done with them (-1 is a referral)."""

    name: str
    losses: "FloatArray"
    actions: "IntArray"
    fold_of: "IntArray"

    @property
    def cost(self) -> float:
        """The mean cost of an applicant."""
        return float(self.losses.mean())

    @property
    def error(self) -> float:
        """The standard error of that mean."""
        return float(self.losses.std(ddof=1) / len(self.losses) ** 0.5)

    @property
    def refused(self) -> float:
        """The share of applicants that are refused."""
        return float((self.actions == 1).mean())

    @property
    def share_referred(self) -> str:
        """The share that a person decides, empty where none is."""
        return f"{(self.actions == -1).mean():.0%}" if (self.actions == -1).any() else ""

    def by_fold(self) -> "FloatArray":
        """The mean cost in each fold."""
        import numpy as np

        return np.array([self.losses[self.fold_of == fold].mean() for fold in range(FOLDS)])


def compared(
    X: "dict[str, AnyArray]", y: "AnyArray", seed: int, tick: "Tick"
) -> "tuple[list[Way], list[Figure], FloatArray]":
    """Every way to decide on the same folds; the folds' figures and the probabilities of the short list."""
    import numpy as np

    from permissible.cli.io.contenders import contenders
    from permissible.decisions import Hard
    from permissible.evaluation.cross_validation import LabelledRows, fold_figures, out_of_fold

    rows, codes = LabelledRows(X, y), np.unique(y, return_inverse=True)[1]
    found, fold_of = {}, np.zeros(len(y), dtype=np.int64)
    made = contenders(seed)
    for done, (name, make) in enumerate(made.items()):
        tick(done, len(made))
        found[name], fold_of = out_of_fold(rows, make, FOLDS, seed)
    referring = costs(REFERRAL)
    ways = []
    for name, action in (("grant everybody", 0), ("refuse everybody", 1)):
        always = np.full(len(codes), action)
        ways.append(Way(name, costs().matrix[codes, always], always, fold_of))
    half = Hard().decide(found[PLAIN])
    ways.append(Way(f"{PLAIN}, threshold 1/2", costs().matrix[codes, half], half, fold_of))
    for name, proba in found.items():
        ways.append(Way(f"{name}, by the costs", costs().loss(codes, proba), costs().decide(proba), fold_of))
    ways += [
        Way(f"{name}, may refer", referring.loss(codes, proba), referring.decide(proba), fold_of)
        for name, proba in found.items()
        if name != SHORT
    ]
    return ways, fold_figures(rows, costs(), found[SHORT], fold_of), found[SHORT]


def findings(ways: list[Way]) -> list[str]:
    """What the table shows, in sentences made from its numbers."""
    from permissible.evaluation.paired import paired_t

    by_name = {way.name: way for way in ways}
    half, plain = by_name[f"{PLAIN}, threshold 1/2"], by_name[f"{PLAIN}, by the costs"]
    ours, referring = by_name[f"{OURS}, by the costs"], by_name[f"{OURS}, may refer"]
    said = [f"Deciding by the costs rather than at one half takes {PLAIN} from {half.cost:.3f} to {plain.cost:.3f}."]
    for way in (way for way in ways if way.name.endswith(", by the costs") and not way.name.startswith(OURS)):
        rival, p_value = way.name.removesuffix(", by the costs"), paired_t(ours.by_fold(), way.by_fold()).p_value
        verdict = "cheaper" if ours.cost < way.cost else "dearer"
        sure = "a clear difference" if p_value < 0.05 else "no more than chance"
        said.append(
            f"Our rules are {abs(ours.cost - way.cost):.3f} {verdict} than {rival} "
            f"({sure}: P = {p_value:.2f}, paired t over the folds)."
        )
    told = (
        f"Referring {(referring.actions == -1).mean():.0%} at {REFERRAL} each takes our rules to {referring.cost:.3f}"
    )
    return [*said, f"{told}; {PLAIN} comes to {by_name[f'{PLAIN}, may refer'].cost:.3f}."]
