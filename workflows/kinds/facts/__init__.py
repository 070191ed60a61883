"""Facts of a text that can be compared with its sources without a model: numbers, dates, names."""
