/** The reasons of a judge as sentences, each with the turns that it is about. */
import { nameOf } from './reading';
import type { Debate, Phase, Reference } from './types';

export interface Claim {
  text: string;
  turns: Reference[];
}

const PLACE = /\b(openings?|closings?|round (\d+))\b/gi;

function sentences(text: string): string[] {
  return text.split(/(?<=[.!?;])\s+/);
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}

function isNamed(debate: Debate, id: string, sentence: string): boolean {
  const { position } = debate.participants.find((one) => one.id === id) ?? { position: '' };
  const isOnlyOne = debate.participants.filter((one) => one.position === position).length === 1;
  const side = position === 'for' ? String.raw`side (for|in favour)` : String.raw`side ${escapePattern(position)}`;
  const name = String.raw`\b${escapePattern(nameOf(debate, id))}\b`;
  const pattern = isOnlyOne ? String.raw`${name}|\b${side}\b` : name;
  return new RegExp(pattern, 'iu').test(sentence);
}

function placesIn(sentence: string): { phase: Phase; round: number | null }[] {
  return [...sentence.matchAll(PLACE)].map(([word, , number]) => {
    if (number !== undefined) return { phase: 'rebuttal', round: Number(number) };
    return { phase: /^o/i.test(word) ? 'opening' : 'closing', round: null };
  });
}

/** Whether a turn was held and has words. */
export function isHeld(debate: Debate, turn: Reference): boolean {
  return debate.rounds.some(
    (round) =>
      round.phase === turn.phase &&
      round.roundNumber === turn.round &&
      round.responses.some((response) => response.participantId === turn.participantId && !response.failed),
  );
}

/** The turns that a sentence names itself, by a debater and a round. */
function namedTurns(debate: Debate, sentence: string): Reference[] {
  const speakers = debate.participants.filter((one) => isNamed(debate, one.id, sentence));
  return placesIn(sentence).flatMap(({ phase, round }) =>
    debate.rounds
      .filter((one) => (round === null ? one.phase === phase : one.phase !== 'opening' && one.roundNumber === round))
      .flatMap((one) =>
        speakers.map((speaker) => ({ participantId: speaker.id, phase: one.phase, round: one.roundNumber })),
      ),
  );
}

/** Each sentence with the turns that it names, and those that the judge refers to of the debaters that it names. */
export function claimsOf(debate: Debate): Claim[] {
  const { verdict } = debate;
  if (verdict === null) return [];
  const rest = new Set(verdict.references.filter((turn) => isHeld(debate, turn)));
  return sentences(verdict.reasoning).map((text) => {
    const turns = namedTurns(debate, text).filter((turn) => isHeld(debate, turn));
    for (const turn of rest) {
      if (!isNamed(debate, turn.participantId, text)) continue;
      const isThere = turns.some(
        (one) => one.participantId === turn.participantId && one.phase === turn.phase && one.round === turn.round,
      );
      if (!isThere && turns.length < 4) turns.push(turn);
      rest.delete(turn);
    }
    return { text, turns };
  });
}

/** The turns that the judge refers to and no sentence is linked to. */
export function otherReferences(debate: Debate, claims: readonly Claim[]): Reference[] {
  const linked = claims.flatMap((claim) => claim.turns);
  const isLinked = (turn: Reference) =>
    linked.some(
      (one) => one.participantId === turn.participantId && one.phase === turn.phase && one.round === turn.round,
    );
  return (debate.verdict?.references ?? []).filter((turn) => isHeld(debate, turn) && !isLinked(turn));
}
