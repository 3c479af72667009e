/** Spending of a conversation, checked against its budget. The twin of `streaming_budget.py`. */
import { orElse } from '../json.ts';
import type { BudgetWarning, StreamingContext, StreamingFields } from './types.ts';

const WARNING_SHARE = 0.8;

/** Return whether some of the budget is left. */
export function hasBudget(context: StreamingContext): boolean {
  const { budgetUsd } = context.settings;
  return budgetUsd === null || context.spentUsd < budgetUsd;
}

/** Return whether the running request has exceeded the budget. */
export function breaksBudget(context: StreamingContext, event: StreamingFields): boolean {
  const { budgetUsd } = context.settings;
  return budgetUsd !== null && spentUsd(context, event) > budgetUsd;
}

/** Record the usage and the cost of the request so far. */
export function recordUsage(context: StreamingContext, event: StreamingFields): Partial<StreamingContext> {
  return { usage: orElse(event.usage, context.usage), spentUsd: spentUsd(context, event) };
}

/** Return the warning that is due when most of the budget is spent, or null. */
export function budgetWarning(context: StreamingContext): BudgetWarning | null {
  const { budgetUsd } = context.settings;
  if (budgetUsd === null || context.budgetWarned || context.spentUsd < WARNING_SHARE * budgetUsd) return null;
  return { type: 'BUDGET_WARNING', spentUsd: context.spentUsd, budgetUsd };
}

/** Return the total spent, including the cost of the running request. */
function spentUsd(context: StreamingContext, event: StreamingFields): number {
  return event.costUsd == null ? context.spentUsd : context.settledUsd + event.costUsd;
}
