"""The transactions of TPC-C under the names that the tools give them."""

from __future__ import annotations

TPCC_CLASSES = ("new_order", "payment", "order_status", "delivery", "stock_level")
_SHORT = {"neword": "new_order", "ostat": "order_status", "slev": "stock_level"}


def class_name(word: str) -> str:
    """`new_order` for "New Order", "NEW_ORDER", "NEWORD", "neword"; other names in the same style."""
    plain = word.strip().lower().replace("-", "_").replace(" ", "_")
    return _SHORT.get(plain, plain)
