/** Amounts, times and counts as people read them. */

/** `$0.00`, `$0.0042`, `$0.50`, `$12.30`: as the terminal writes them. */
export function formatUsd(amount: number | string): string {
  const value = Number(amount);
  const isWholeCents = Math.abs(value * 100 - Math.round(value * 100)) < 1e-9;
  return `$${value.toFixed(value >= 1 || isWholeCents ? 2 : 4)}`;
}

export function countWords(text: string): number {
  return text.split(/\s+/).filter(Boolean).length;
}

/** An estimate of the tokens of a text, until the model reports them. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
