"""One file per protocol: `plan` the units, `work` on one, make a `chapter` of all. A protocol fits public estimators only."""
