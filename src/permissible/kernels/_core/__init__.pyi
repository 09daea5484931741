from . import binning as binning
from . import boosted as boosted
from . import boosting as boosting
from . import boundary as boundary
from . import mcboost as mcboost
from . import trees as trees
