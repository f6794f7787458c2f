"""Why a plan's candidates fell out, in numbers."""

from oltpsim.scenarios.questions.plan import ResponseObjective, ScreenedStock, Verdict

PARTS = ("processors", "disks", "the log")


def objective_words(objective: ResponseObjective) -> str:
    """As people write it: p95 of new order at most 50 ms."""
    return f"p{100 * objective.share:g} of {objective.transaction} at most {1000 * objective.limit_s:g} ms"


def rejection_reason(screened: ScreenedStock, number: int) -> str:
    """Why a candidate fell out, in numbers; empty if it didn't."""
    question, judged, kind = screened.stock.question, screened.judged, int(screened.kind[number])
    verdict = int(screened.verdict[number])
    if verdict == Verdict.MEETS:
        return ""
    if verdict == Verdict.NO_PRICE:
        return f"no price of {screened.without_price[number]}"
    if verdict == Verdict.BUDGET:
        return f"costs {screened.cost[number]:,.0f}, the budget is {question.budget or 0.0:,.0f}"
    if verdict in (Verdict.ROOM, Verdict.MEMORY):
        return judged.why[kind]
    at = f"at {question.target_per_min:,.0f} new orders/min" if question.target_per_min is not None else "alone"
    if verdict == Verdict.PROCESSORS:
        return f"processors {judged.need[kind]:.0%} busy {at} if nothing were ever read or written"
    if verdict == Verdict.OVERLOAD:
        part, need = PARTS[int(judged.busiest[kind])], float(judged.need[kind])
        if need > 1.0:
            return f"{part} would be {need:.0%} busy {at}"
        return f"more than {question.connections:,} connections would wait {at}, {part} {need:.0%} busy"
    objective = question.objectives[int(judged.objective[kind])]
    return f"{objective_words(objective)}: takes {1000 * judged.time_s[kind]:,.3g} ms {at}"
