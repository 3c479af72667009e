/** Tell screen readers what begins and what ends in a debate. */
import { useEffect, useRef } from 'react';
import { announce } from '../parts/Status';
import type { ActivityRow } from '../wire/types';
import { decision, nameOf, roundTitle } from './reading';
import type { Debate, Phase } from './types';

function lineOf(activity: ActivityRow, debate: Debate): string | null {
  const { kind, facts, speaker } = activity;
  switch (kind) {
    case 'turn_started':
      return `${nameOf(debate, speaker ?? '')} speaks, ${roundTitle(facts['phase'] as Phase, Number(facts['roundNumber']))}`;
    case 'turn_ended':
      return `${nameOf(debate, speaker ?? '')} ${facts['end'] === 'whole' ? 'has spoken' : facts['end'] === 'cancelled' ? 'was cut' : 'did not answer'}`;
    case 'judging':
      return 'The judge decides';
    case 'cost_warning':
      return 'Cost warning';
    case 'interjection':
      return 'The debaters hear you';
    default:
      return null;
  }
}

export function useAnnouncements(debate: Debate | null, activities: readonly ActivityRow[]): void {
  const seen = useRef('');
  const verdict = debate?.verdict !== null && debate !== null ? `Verdict: ${decision(debate)}` : '';
  const known = useRef<string | null>(null);
  useEffect(() => {
    if (debate === null) return;
    const first = activities.findLastIndex((one) => one.cursor === seen.current) + 1;
    const lines = activities
      .slice(first)
      .map((one) => lineOf(one, debate))
      .filter((line) => line !== null);
    if (lines.length > 0) announce(lines.slice(-3).join('. '));
    seen.current = activities.at(-1)?.cursor ?? '';
    // A verdict that was there when the page was opened is read, not announced.
    if (known.current !== null && verdict !== '' && known.current !== verdict) announce(verdict);
    known.current = verdict;
  }, [activities, debate, verdict]);
}
