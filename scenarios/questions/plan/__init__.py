"""Which machine to buy: candidates, their bills, what each does at the load that is asked for, and the choice."""
