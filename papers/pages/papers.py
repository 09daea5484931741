"""The five papers and the page each of them gets; `peers` is a page of our own."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Paper:
    """A page: its file name, the letter the documentation uses, and the citation."""

    page: str
    letter: str
    citation: str


PAPERS = {
    paper.letter: paper
    for paper in (
        Paper(
            "nips-2008",
            "N",
            "R. Nock, F. Nielsen: On the Efficient Minimization of Classification Calibrated Surrogates. NIPS 2008.",
        ),
        Paper(
            "icpr-2008",
            "I",
            "R. Nock, F. Nielsen: On the Efficient Minimization of Convex Surrogates in Supervised Learning. ICPR 2008.",
        ),
        Paper(
            "tpami-2009", "T", "R. Nock, F. Nielsen: Bregman Divergences and Surrogates for Learning. IEEE TPAMI, 2009."
        ),
        Paper(
            "kimes",
            "K",
            "P. K. Kimes, D. N. Hayes, J. S. Marron, Y. Liu: Large-Margin Classification with Multiple Decision Rules.",
        ),
        Paper(
            "beijbom-2014",
            "B",
            "O. Beijbom, M. Saberian, D. Kriegman, N. Vasconcelos: Guess-Averse Loss Functions For Cost-Sensitive "
            "Multiclass Boosting. ICML 2014.",
        ),
        Paper(
            "peers",
            "peers",
            "Our estimators with default settings beside the established libraries, on the same folds.",
        ),
    )
}
