"""The analytic engine: mean-value analysis of the same model."""
