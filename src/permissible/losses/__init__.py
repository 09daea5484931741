"""Pure mathematics on arrays: one function phi, and the loss, weight, link, impurity and surrogates derived from it."""
