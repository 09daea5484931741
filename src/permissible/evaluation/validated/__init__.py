"""`pm.validate`: all tables of estimators for one decision, on rows that they were not fitted on, and their renderings."""
