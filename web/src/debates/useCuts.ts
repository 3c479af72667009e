/** The words of replies that were stopped before their end, as far as this tab has seen them. */
import { useEffect, useRef, useState } from 'react';
import type { ThreadState } from '../wire/thread';
import type { Cuts } from './reading';
import type { Phase } from './types';

interface Place {
  phase: Phase;
  roundNumber: number;
}

export function useCuts(thread: ThreadState): Cuts {
  const words = useRef<Record<string, string>>({});
  const places = useRef<Record<string, Place>>({});
  const seen = useRef('');
  const [cuts, setCuts] = useState<Cuts>({});
  const { replies, activities } = thread;
  const current = (thread.page?.content as { current?: Place | null } | undefined)?.current;

  useEffect(() => {
    for (const reply of Object.values(replies)) if (reply.text !== '') words.current[reply.speaker] = reply.text;
  }, [replies]);

  useEffect(() => {
    const first = activities.findLastIndex((one) => one.cursor === seen.current) + 1;
    for (const activity of activities.slice(first)) {
      const speaker = activity.speaker ?? '';
      if (activity.kind === 'turn_started') {
        words.current[speaker] = '';
        places.current[speaker] = { phase: activity.facts['phase'] as Phase, roundNumber: Number(activity.facts['roundNumber']) };
      } else if (activity.kind === 'turn_ended' && activity.facts['end'] === 'cancelled') {
        const place = places.current[speaker] ?? current;
        const text = words.current[speaker] ?? '';
        if (place) setCuts((before) => ({ ...before, [speaker]: { phase: place.phase, roundNumber: place.roundNumber, text } }));
      }
    }
    seen.current = activities.at(-1)?.cursor ?? '';
  }, [activities, current]);

  return cuts;
}
