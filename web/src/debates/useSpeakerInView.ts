import { useEffect, type RefObject } from 'react';

/** Bring the column of a debater that begins to speak into view, as long as the end is followed. */
export function useSpeakerInView(
  box: RefObject<HTMLElement | null>,
  speakers: readonly string[],
  isFollowing: boolean,
): void {
  const speaker = speakers.length === 1 ? (speakers[0] ?? '') : '';
  useEffect(() => {
    const element = box.current;
    if (speaker === '' || !isFollowing || element === null || element.scrollWidth <= element.clientWidth) return;
    const turn = [...element.querySelectorAll<HTMLElement>('.turn[data-kind="live"]')].at(-1);
    if (turn !== undefined) element.scrollTo({ left: turn.offsetLeft });
  }, [box, speaker, isFollowing]);
}
