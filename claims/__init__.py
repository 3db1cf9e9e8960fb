"""What papers say, as data, and what it takes to believe it."""
