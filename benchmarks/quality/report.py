"""The tables of the quality benchmark: means, ranks by log-loss, and Wilcoxon tests against the first classifier."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import rankdata, wilcoxon

from benchmarks.quality.measures import DECISIONS
from benchmarks.quality.sets import held_back

Found = Mapping[tuple[str, str], Mapping[str, float]]
MEANS = ("error", "log-loss", "Brier")


def tables(found: Found, peers: Sequence[str]) -> str:
    """One pair of tables for the sets that settings were chosen on, one for those held back."""
    complete = sorted({name for name, _ in found if all((name, peer) in found for peer in peers)})
    parts = []
    for title, back in (("sets on which settings were chosen", False), ("sets held back", True)):
        names = [name for name in complete if held_back(name) == back]
        if names:
            parts += [f"## {len(names)} {title}", _quality(found, names, peers), _decisions(found, names, peers)]
    return "\n\n".join(parts) or "no set was measured with every classifier"


def _values(found: Found, names: Sequence[str], peers: Sequence[str], measure: str) -> np.ndarray:
    return np.array([[found[name, peer][measure] for peer in peers] for name in names])


def _quality(found: Found, names: Sequence[str], peers: Sequence[str]) -> str:
    first = peers[0]
    lines = [
        f"| | rank | error | log-loss | Brier | seconds (median) | size | {first} better on | p |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    losses = _values(found, names, peers, "log-loss")
    ranks = rankdata(losses, axis=1).mean(axis=0)
    means = {name: _values(found, names, peers, name).mean(axis=0) for name in (*MEANS, "size")}
    seconds = np.median(_values(found, names, peers, "seconds"), axis=0)
    for k in np.argsort(ranks):
        better, p = "", ""
        if k:
            better = f"{int(np.sum(losses[:, 0] < losses[:, k]))} of {len(names)}"
            p = f"{wilcoxon(losses[:, 0], losses[:, k]).pvalue:.1g}" if np.any(losses[:, 0] != losses[:, k]) else "1"
        quality = " | ".join(f"{means[name][k]:.4f}" for name in MEANS)
        lines.append(
            f"| {peers[k]} | {ranks[k]:.2f} | {quality} | {seconds[k]:.3f} | {means['size'][k]:.0f} | {better} | {p} |"
        )
    return "\n".join(lines)


def _decisions(found: Found, names: Sequence[str], peers: Sequence[str]) -> str:
    """Cost a case relative to the best constant action: the mean over the sets, and the mean rank in brackets."""
    lines = ["| cost (rank) | " + " | ".join(DECISIONS) + " |", "|---" * (len(DECISIONS) + 1) + "|"]
    values = {name: _values(found, names, peers, name) for name in DECISIONS}
    for k, peer in enumerate(peers):
        cells = [f"{v.mean(axis=0)[k]:.3f} ({rankdata(v, axis=1).mean(axis=0)[k]:.1f})" for v in values.values()]
        lines.append(f"| {peer} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
