"""How good a classifier is: arrays in, plain numbers out."""
