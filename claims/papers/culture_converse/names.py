"""The words of the CultureConverse paper that a mapping gives a release's own names for."""

from __future__ import annotations

MODELS = (
    "GPT-5 mini",
    "GPT-5.4",
    "GPT-5.4 mini",
    "Qwen 3.6 35B A3B",
    "Gemini 2.5 Flash",
    "Gemini 2.5 Flash-Lite",
    "Gemini 3.1 Flash-Lite",
    "Gemini 3 Flash Preview",
    "DeepSeek V3.2",
    "DeepSeek V4 Flash",
    "DeepSeek V3.1",
    "Grok 4.20",
    "GPT-OSS 120B",
    "Nemotron 3 Super 120B A12B",
    "Mistral Large 3",
    "Mistral Small 2603",
    "Claude Haiku 4.5",
    "Llama 4 Maverick",
)
JUDGES = (
    "GPT-5 mini",
    "Qwen 3.6 Flash",
    "Llama 4 Maverick",
    "Gemini 3 Flash Preview",
    "Gemini 2.5 Flash-Lite",
    "DeepSeek V3.1",
    "Gemini 3.1 Flash-Lite",
    "DeepSeek V3.2",
    "GPT-5.4 mini",
    "GPT-5.4 nano",
    "Grok 4.20",
)
METRICS = ("Helpfulness", "Honesty", "Harmlessness", "Naturalness", "Plausibility", "Typicality")
HUMAN = "human"

# Columns whose values the paper names. Rows with another value are left out where the column matters, and counted.
VOCABULARY = {
    "model": MODELS,
    "region": ("SG", "MY", "ID", "TH", "VN", "PH", "CN", "JP", "KR", "BN"),
    "language": ("English", "Native"),
    "tier": ("Standard", "CTX", "NORM"),
    "split": ("test", "train"),
    "mode": ("eval", "gold"),
    "clean": ("yes", "no"),
    "metric": METRICS,
    "rater": (*JUDGES, HUMAN),
}
# What one row may hold, by kind of table; a recipe that needs a column the mapping does not name says so.
COLUMNS = {
    "episodes": (*"model seed language region identity gender tier split mode clean".split(), *METRICS),
    "ratings": ("dialogue", "region", "rater", "metric", "score", *METRICS),
}
# Columns of Tables 4, 14 and 17: the metrics that are averaged within an episode.
MEASURES = {
    **{name: (i,) for i, name in enumerate(("Help", "Hon", "Harm", "Nat", "Plaus", "Typ"))},
    "3H": (0, 1, 2),
    "TDQ": (3, 4, 5),
}
