"""Brings bytes in and proves what they are; ends in a validated LabelTable."""
