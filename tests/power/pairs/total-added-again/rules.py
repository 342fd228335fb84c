"""What `onceproof verify --expect-state` compares."""


def totals(orders):
    """The table in the end: the total of each customer."""
    cents = {}
    for order in orders:
        if order is not None:
            customer = order["customer"]
            cents[customer] = cents.get(customer, 0) + order["amount_cents"]
    return {name: {"customer": name, "cents": total} for name, total in cents.items()}
