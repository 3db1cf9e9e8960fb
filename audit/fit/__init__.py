"""`countback fit`: labels into a model of countries, items and people, and what the fit may and may not say."""
