from . import binning as binning
from . import boundary as boundary
from . import trees as trees
from . import mcboost as mcboost
