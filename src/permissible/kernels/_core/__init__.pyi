from . import trees as trees
