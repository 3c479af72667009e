import { expect, test } from 'vitest';
import { claimsOf, otherReferences } from './claims';
import { debate, round } from './fixtures';
import type { Reference } from './types';

const turn = (participantId: string, phase: Reference['phase'], number = 1): Reference => ({
  participantId,
  phase,
  round: number,
});

function judged(reasoning: string, references: Reference[] = []) {
  const verdict = {
    winner: 'for',
    tie: false,
    scores: { for: 2, against: 1 },
    criteria: {},
    reasoning,
    references,
    tokensUsed: 0,
  };
  return debate({ rounds: [round('opening', 1), round('rebuttal', 1)], verdict, state: 'completed' });
}

test('a sentence that names a debater and a round is linked to the turn', () => {
  const claims = claimsOf(judged('Ada named figures in her opening. Bruno answered in round 1.'));
  expect(claims.map((claim) => claim.turns)).toEqual([[turn('for', 'opening')], [turn('against', 'rebuttal')]]);
});

test('a reference is linked to the sentence about its debater', () => {
  const claims = claimsOf(judged('Both argued well. The side against was clearer.', [turn('against', 'rebuttal')]));
  expect(claims.map((claim) => claim.turns)).toEqual([[], [turn('against', 'rebuttal')]]);
});

test('a reference to a turn that was not held is left out', () => {
  const all = judged('Ada was clearer.', [turn('for', 'rebuttal', 7)]);
  expect(claimsOf(all)[0]?.turns).toEqual([]);
  expect(otherReferences(all, claimsOf(all))).toEqual([]);
});

test('references that no sentence is about are listed apart', () => {
  const all = judged('It was close.', [turn('for', 'opening')]);
  expect(otherReferences(all, claimsOf(all))).toEqual([turn('for', 'opening')]);
});

test('a name is no pattern', () => {
  const all = judged('It was close.');
  const odd = { ...all, participants: all.participants.map((one) => ({ ...one, name: 'A(' })) };
  expect(claimsOf(odd)).toHaveLength(1);
});
