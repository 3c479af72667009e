/** The words of replies that were stopped before their end, as far as this tab has seen them. */
import { useEffect, useRef, useState } from 'react';
import type { ThreadState } from '../wire/thread';
import type { Cuts } from './reading';
import type { Debate, Phase } from './types';

interface Place {
  phase: Phase;
  roundNumber: number;
}

/** Whether a text is that of a turn that is over: a live reply is known a moment longer than it lasts. */
function isOver(debate: Debate | null, speaker: string, text: string): boolean {
  const responses = [
    ...(debate?.rounds ?? []).flatMap((round) => round.responses),
    ...(debate?.current?.responses ?? []),
  ];
  return responses.some((response) => response.participantId === speaker && response.content === text);
}

export function useCuts({ replies, activities }: ThreadState, debate: Debate | null): Cuts {
  const words = useRef<Record<string, string>>({});
  const places = useRef<Record<string, Place>>({});
  const seen = useRef('');
  const [cuts, setCuts] = useState<Cuts>({});

  useEffect(() => {
    const first = activities.findLastIndex((one) => one.cursor === seen.current) + 1;
    for (const activity of activities.slice(first)) {
      const speaker = activity.speaker ?? '';
      if (activity.kind === 'turn_started') {
        words.current[speaker] = '';
        places.current[speaker] = {
          phase: activity.facts['phase'] as Phase,
          roundNumber: Number(activity.facts['roundNumber']),
        };
      } else if (activity.kind === 'turn_ended' && activity.facts['end'] === 'cancelled') {
        const place = places.current[speaker] ?? debate?.current;
        const text = words.current[speaker] ?? '';
        if (place)
          setCuts((before) => ({ ...before, [speaker]: { phase: place.phase, roundNumber: place.roundNumber, text } }));
      }
    }
    seen.current = activities.at(-1)?.cursor ?? '';
  }, [activities, debate]);

  // After the activities: words may come together with the start of their turn.
  useEffect(() => {
    for (const { speaker, text } of Object.values(replies)) {
      if (text !== '' && !isOver(debate, speaker, text)) words.current[speaker] = text;
    }
  }, [replies, debate]);

  return cuts;
}
