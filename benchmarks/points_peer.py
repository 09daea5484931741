"""FasterRisk 0.1.10 on one file of binary columns, run by an interpreter of its own: see benchmarks/points.py.

    python points_peer.py rows.npz k points seconds

prints one line of JSON: the mean log-loss on the held-out rows, that of the training rows, and the CPU seconds of the search.
"""

import json
import resource
import sys
import time

import numpy as np
from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer


def log_loss(labels, probability):
    positive = np.clip(probability, 1e-15, 1 - 1e-15)
    return float(-np.mean(np.where(labels > 0, np.log(positive), np.log1p(-positive))))


def main(path, k, points, seconds):
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    rows = np.load(path)
    train, test = (rows[name].astype(np.float64) for name in ("train", "test"))
    train_labels, test_labels = (np.where(rows[name], 1.0, -1.0) for name in ("train_labels", "test_labels"))
    begun = time.process_time()
    search = RiskScoreOptimizer(train, train_labels, k=k, lb=-points, ub=points)
    search.optimize()
    multiplier, intercept, coefficients = search.get_models(model_index=0)
    spent = time.process_time() - begun
    card = RiskScoreClassifier(multiplier, intercept, coefficients)
    found = {"loss": log_loss(test_labels, card.predict_prob(test))}
    found |= {"train": log_loss(train_labels, card.predict_prob(train)), "cpu": spent}
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
