"""How time and memory of a fit grow: ``python -m benchmarks.scaling`` measures the curves and states their exponents."""
