"""An independent referee: the definitions of docs/mathematics.md in 400 digits, by root finding, not by our closed forms."""

import mpmath as mp

DIGITS = 60


def phi(name, params):
    """Return phi as an mpmath function, from the papers' formulas."""
    if name == "matsushita":
        return lambda p: mp.sqrt(p * (1 - p))
    if name == "mu":
        mu = mp.mpf(params["mu"])
        return lambda p: mu + (1 - mu) * mp.sqrt(p * (1 - p))
    if name == "logistic":
        return lambda p: -p * mp.log(p) - (1 - p) * mp.log1p(-p) if 0 < p < 1 else mp.mpf(0)
    if name == "squared":
        return lambda p: p * (1 - p)
    if name == "power":
        u = mp.mpf(params["upsilon"])
        return lambda p: (p * (1 - p)) ** u
    z = abs(mp.mpf(params["zeta"]))
    return lambda p: 2 / z * (mp.log(mp.cosh(z / 4)) - mp.log(mp.cosh(z / 2 * (p - mp.mpf(1) / 2))))


def link(name, params):
    """Return g = -phi' by hand."""
    if name == "matsushita":
        return lambda p: (2 * p - 1) / (2 * mp.sqrt(p * (1 - p)))
    if name == "mu":
        mu = mp.mpf(params["mu"])
        return lambda p: (1 - mu) * (2 * p - 1) / (2 * mp.sqrt(p * (1 - p)))
    if name == "logistic":
        return lambda p: mp.log(p) - mp.log1p(-p)
    if name == "squared":
        return lambda p: 2 * p - 1
    if name == "power":
        u = mp.mpf(params["upsilon"])
        return lambda p: u * (p * (1 - p)) ** (u - 1) * (2 * p - 1)
    z = abs(mp.mpf(params["zeta"]))
    return lambda p: mp.tanh(z / 2 * (p - mp.mpf(1) / 2))


def limit(name, params):
    if name == "squared":
        return mp.mpf(1)
    if name == "logcosh":
        return mp.tanh(abs(mp.mpf(params["zeta"])) / 4)
    return mp.inf


def inverse(name, params, x):
    """Return ginv(x) for x <= 0 by bisection of ln p followed by secant steps: no closed form is used."""
    x = mp.mpf(x)
    if x <= -limit(name, params):
        return mp.mpf(0)
    g = link(name, params)
    low, high = mp.mpf(-3e8 if name == "logistic" else -6000), mp.log(mp.mpf(1) / 2)
    if x == 0:
        return mp.mpf(1) / 2
    for _ in range(300):
        middle = (low + high) / 2
        if g(mp.exp(middle)) < x:
            low = middle
        else:
            high = middle
    return mp.exp((low + high) / 2)


def quantities(name, params, x):
    """Return the exact value F(x), weight, probability, curvature and margin at a double x."""
    with mp.workdps(DIGITS + 40):
        f, x = phi(name, params), mp.mpf(x)
        a, b = f(mp.mpf(0)), f(mp.mpf(1) / 2) - f(mp.mpf(0))
        p = inverse(name, params, -abs(x))
        left = -abs(x) * p + f(p) - a  # G*(-|x|) - a
        value = (left + max(-x, 0)) / b
        inside = abs(x) < limit(name, params)
        curvature = 1 / second(name, params)(p) if inside and p > 0 else mp.mpf(0)
        low, high = p, 1 - p
        return {
            "value": value,
            "conjugate": a + left + max(x, 0),
            "weight": low if x > 0 else high,
            "probability": high if x > 0 else low,
            "curvature": curvature,
            "margin": mp.sign(x) * (1 - 2 * p),
        }


def second(name, params):
    """Return G'' by hand (mathematics.md, section 2)."""
    if name == "matsushita":
        return lambda p: 1 / (4 * (p * (1 - p)) ** mp.mpf("1.5"))
    if name == "mu":
        return lambda p: (1 - mp.mpf(params["mu"])) / (4 * (p * (1 - p)) ** mp.mpf("1.5"))
    if name == "logistic":
        return lambda p: 1 / (p * (1 - p))
    if name == "squared":
        return lambda p: mp.mpf(2)
    if name == "power":
        u = mp.mpf(params["upsilon"])
        return lambda p: u * (p * (1 - p)) ** (u - 2) * ((1 - u) + (4 * u - 2) * p * (1 - p))
    z = abs(mp.mpf(params["zeta"]))
    return lambda p: z / 2 * mp.sech(z / 2 * (p - mp.mpf(1) / 2)) ** 2
