"""The act: plan, obtain, read, recount, judge, tell."""
