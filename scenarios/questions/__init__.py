"""Questions: values in, values out."""
