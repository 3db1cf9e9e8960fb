"""Numbers out of label tables: estimators first, Bayesian models after."""
