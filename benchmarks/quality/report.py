"""The tables of the quality benchmark: means, ranks, Wilcoxon tests against the first classifier, and what is asked of it."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import rankdata, wilcoxon

from benchmarks.quality.measures import DECISIONS
from benchmarks.quality.sets import held_back

Found = Mapping[tuple[str, str], Mapping[str, float]]
MEANS = ("error", "log-loss", "Brier")
OWN, COMPACT, SEEDS = "ULS", "ULS compact", "ULS, seeds"
RIVALS, TIMED = ("EBM, 2 bags", "CatBoost", "LightGBM stopped"), "EBM, 2 bags"
MOST_RULES, COMPACT_GAP, SHARE, FLIPPED = 100, 0.010, 2 / 3, 0.03
MEASURED = 0.8
"""A classifier is shown where it was measured on so large a fraction of the sets of the first one."""


def tables(found: Found, peers: Sequence[str]) -> str:
    """The tables for the sets that settings were chosen on, and for those held back."""
    parts = []
    for title, back in (("sets on which settings were chosen", False), ("sets held back", True)):
        own = sorted({name for name, peer in found if peer == peers[0] and held_back(name) == back})
        often = [peer for peer in peers if sum((name, peer) in found for name in own) > MEASURED * len(own)]
        shown = [peer for peer in often if peer != SEEDS]
        names = [name for name in own if all((name, peer) in found for peer in shown)]
        if not names:
            continue
        parts += [f"## {len(names)} {title}", _quality(found, names, shown)]
        if all(decision in found[name, peer] for decision in DECISIONS for name in names for peer in shown):
            parts.append(_decisions(found, names, shown))
            if shown[0] == OWN:
                parts.append("\n".join(_claims(found, names, shown)))
    return "\n\n".join(parts) or "no set was measured with every classifier"


def _values(found: Found, names: Sequence[str], peers: Sequence[str], measure: str) -> np.ndarray:
    return np.array([[found[name, peer][measure] for peer in peers] for name in names])


def _p(own: np.ndarray, other: np.ndarray) -> str:
    return f"{wilcoxon(own, other).pvalue:.1g}" if np.any(own != other) else "1"


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
            p = _p(losses[:, 0], losses[:, k])
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


def _claims(found: Found, names: Sequence[str], peers: Sequence[str]) -> list[str]:
    """What the default should reach, what it reached, and whether it did."""
    rivals = [peer for peer in peers if not peer.startswith(OWN)]
    shown = [OWN, *rivals]
    losses = dict(zip(shown, _values(found, names, shown, "log-loss").T, strict=True))
    errors = dict(zip(shown, _values(found, names, shown, "error").mean(axis=0), strict=True))
    ranks = rankdata(_values(found, names, shown, "log-loss"), axis=1).mean(axis=0)
    place = int(rankdata(ranks, method="min")[0])
    claims = [("first by rank of log-loss", f"{_ordinal(place)} of {len(shown)} (rank {ranks[0]:.2f})", place == 1)]
    for rival in (peer for peer in RIVALS if peer in rivals):
        wins = int(np.sum(losses[OWN] < losses[rival]))
        told = f"{wins} of {len(names)}, p {_p(losses[OWN], losses[rival])}"
        claims.append((f"log-loss ahead of {rival} on two thirds of the sets", told, wins >= SHARE * len(names)))
    if "CatBoost" in rivals:
        own, other = errors[OWN], errors["CatBoost"]
        claims.append(("error no worse than CatBoost's", f"{own:.4f} against {other:.4f}", own <= other))
    most = max(found[name, OWN]["size"] for name in names)
    claims.append((f"at most {MOST_RULES} rules", f"{most:.0f} on the set with most (mean of the folds)", most <= 100))
    if TIMED in rivals:
        own, other = np.median(_values(found, names, [OWN, TIMED], "seconds"), axis=0)
        claims.append((f"median fit at most that of {TIMED}", f"{own:.3f} s against {other:.3f} s", own <= other))
    if COMPACT in peers:
        gap = float(_values(found, names, [COMPACT], "log-loss").mean() - losses[OWN].mean())
        claims.append((f"compact within {COMPACT_GAP} of the default", f"{gap:+.4f} log-loss", gap <= COMPACT_GAP))
    for name in DECISIONS:
        ranks = rankdata(_values(found, names, shown, name), axis=1).mean(axis=0)
        place = int(rankdata(ranks, method="min")[0])
        claims.append((f"first by rank of the cost at {name}", f"{_ordinal(place)} (rank {ranks[0]:.2f})", place == 1))
    flipped = [found[name, SEEDS]["flipped"] for name in names if (name, SEEDS) in found]
    if flipped:
        middle = float(np.median(flipped))
        told = f"{middle:.2%} (largest {max(flipped):.1%}, {len(flipped)} sets)"
        claims.append(("seeds change fewer than 3% of the labels of the median set", told, middle < FLIPPED))
    lines = ["| asked for | found | |", "|---|---|---|"]
    return lines + [f"| {asked} | {told} | {'holds' if holds else '**short**'} |" for asked, told, holds in claims]


def _ordinal(place: int) -> str:
    return f"{place}{'th' if 10 < place % 100 < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"
