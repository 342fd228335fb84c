"""What `onceproof verify --expect` compares."""


def total(order):
    """The row of an order."""
    if order is None:
        return None
    return {"order_id": order["order_id"], "total": order["quantity"] * order["amount_cents"]}
