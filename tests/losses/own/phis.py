"""A user's own functions for the tests: smooth ones, tables, one of single numbers, each with a counter of its calls."""

import math

import numpy as np

from permissible import losses


def entropy(p):
    return -p * np.log(p) - (1 - p) * np.log(1 - p)


def quadratic_table(n_knots, shape=np.sin):
    """phi and phi' of a table: phi' straight between the knots, phi its integral, which is strictly concave."""
    knots = np.linspace(0, 1, n_knots)
    slopes = np.pi * np.cos(np.pi * knots)
    steps = np.diff(knots)
    values = np.append(0.0, np.cumsum(0.5 * (slopes[1:] + slopes[:-1]) * steps))

    def phi(p):
        p = np.asarray(p, dtype=float)
        at = np.clip(np.searchsorted(knots, p, side="right") - 1, 0, n_knots - 2)
        d = p - knots[at]
        return values[at] + slopes[at] * d + 0.5 * (slopes[at + 1] - slopes[at]) / steps[at] * d * d

    return phi, lambda p: np.interp(p, knots, slopes)


class Counted:
    """A function that counts how often it is called, and with how many numbers."""

    def __init__(self, function):
        self.function, self.calls, self.numbers = function, 0, 0

    def __call__(self, p):
        self.calls += 1
        self.numbers += np.size(p)
        return self.function(p)


def own(name):
    """Some own losses by a name for the test."""
    phi, slope = {
        "logistic": (entropy, lambda p: np.log1p(-p) - np.log(p)),
        "logistic by complex step": (entropy, None),
        "logistic by differences": (lambda p: np.abs(entropy(p)), None),
        "logistic of single numbers": (lambda p: -p * math.log(p) - (1 - p) * math.log(1 - p), None),
        "matsushita": (lambda p: np.sqrt(p * (1 - p)), None),
        "gini": (lambda p: p * (1 - p), None),
        "heavy tail": (lambda p: (p * (1 - p)) ** 0.1, None),
        "sine": (lambda p: np.sin(np.pi * p), lambda p: np.pi * np.cos(np.pi * p)),
        "table of 33": quadratic_table(33),
        "table of 1001": quadratic_table(1001),
        "table of 33 without derivative": (quadratic_table(33)[0], None),
    }[name]
    return losses.from_phi(phi, slope, name=name)
