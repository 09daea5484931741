"""Pictures of fitted models; matplotlib is imported when one is drawn."""
