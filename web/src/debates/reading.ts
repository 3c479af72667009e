/** What the screen shows of a debate, derived from its content. */
import type { LiveReplies, LiveReply } from '../wire/replies';
import type { OpenedThread } from '../wire/types';
import type { Debate, Interjection, Model, Participant, Phase, Reference, Response, Round } from './types';

export const LETTERS = ['A', 'B', 'C', 'D'] as const;

export function letterOf(debate: Debate, id: string): string {
  return LETTERS[debate.participants.findIndex((one) => one.id === id)] ?? '?';
}

export function nameOf(debate: Debate, id: string): string {
  return debate.participants.find((one) => one.id === id)?.name ?? id;
}

/** The name of a model without its provider; of a long path, the last part. */
export function modelLabel(model: Model): string {
  const isPath = model.modelId.startsWith('/') || model.modelId.length > 32;
  return isPath ? (model.modelId.split('/').at(-1) ?? '') : model.modelId;
}

/** The content of a thread that is a debate; null if only its journal could be read. */
export function debateOf(page: OpenedThread): Debate | null {
  if (page.transcript || page.content === undefined || !('participants' in page.content)) return null;
  return page.content as unknown as Debate;
}

export function phaseOf(format: string, number: number, last: number): Phase {
  return format === 'oxford' && number === last && last > 1 ? 'closing' : 'rebuttal';
}

export function roundTitle(phase: Phase, number: number): string {
  if (phase === 'opening') return 'Openings';
  return phase === 'closing' ? 'Closings' : `Round ${number}`;
}

export const turnId = (reference: Reference): string =>
  `turn-${reference.phase}-${reference.round}-${reference.participantId}`;
export const roundId = (phase: Phase, number: number): string => `round-${phase}-${number}`;

/** A reply that was stopped before its end: it is asked for again. */
export interface Cut {
  phase: Phase;
  roundNumber: number;
  text: string;
}

export type Cuts = Readonly<Record<string, Cut>>;

export type Turn =
  | { kind: 'said' | 'failed'; response: Response }
  | { kind: 'live'; reply: LiveReply }
  | { kind: 'cut'; text: string }
  | { kind: 'waiting' }
  | { kind: 'absent' };

export interface RoundRow {
  phase: Phase;
  roundNumber: number;
  isCurrent: boolean;
  /** The finished round; null while it is in progress. */
  round: Round | null;
  turns: Readonly<Record<string, Turn>>;
  interjections: Interjection[];
}

const SPEAKING = ['initializing', 'awaitingArguments', 'debating'];

/** Whether debaters speak now, or would if the debate continued. */
function isInRound(debate: Debate): boolean {
  if (SPEAKING.includes(debate.state)) return true;
  const isHeld = debate.state === 'paused' || debate.state === 'error';
  return isHeld && debate.current?.target !== 'judgeEvaluating';
}

function turnOf(responses: Response[], id: string): Turn {
  const response = responses.find((one) => one.participantId === id);
  if (response === undefined) return { kind: 'absent' };
  return { kind: response.failed ? 'failed' : 'said', response };
}

function interjectionsOf(debate: Debate, phase: Phase, number: number): Interjection[] {
  return debate.interjections.filter((one) => one.phase === phase && Math.max(1, one.roundNumber) === number);
}

function openTurn(debate: Debate, speaker: Participant, replies: LiveReplies, cuts: Cuts): Turn {
  const current = debate.current;
  const known = turnOf(current?.responses ?? [], speaker.id);
  if (known.kind !== 'absent') return known;
  const reply = replies[speaker.id];
  if (reply !== undefined && SPEAKING.includes(debate.state)) return { kind: 'live', reply };
  const cut = cuts[speaker.id];
  if (cut !== undefined && cut.phase === current?.phase && cut.roundNumber === current.roundNumber)
    return { kind: 'cut', text: cut.text };
  return { kind: 'waiting' };
}

/** The rounds in their order, the one in progress last. */
export function roundRows(debate: Debate, replies: LiveReplies, cuts: Cuts): RoundRow[] {
  const rows = debate.rounds.map((round): RoundRow => {
    const turns = debate.participants.map((one) => [one.id, turnOf(round.responses, one.id)] as const);
    const { phase, roundNumber } = round;
    return {
      phase,
      roundNumber,
      isCurrent: false,
      round,
      turns: Object.fromEntries(turns),
      interjections: interjectionsOf(debate, phase, roundNumber),
    };
  });
  const { current } = debate;
  if (current === null || !isInRound(debate)) return rows;
  const { phase, roundNumber } = current;
  if (rows.some((row) => row.phase === phase && row.roundNumber === roundNumber)) return rows;
  const turns = Object.fromEntries(debate.participants.map((one) => [one.id, openTurn(debate, one, replies, cuts)]));
  return [
    ...rows,
    {
      phase,
      roundNumber,
      isCurrent: true,
      round: null,
      turns,
      interjections: interjectionsOf(debate, phase, roundNumber),
    },
  ];
}

export type Mark = 'done' | 'live' | 'held' | 'error' | 'coming' | 'skipped';

export interface Station {
  key: string;
  label: string;
  short: string;
  mark: Mark;
  /** The element on the screen that it leads to. */
  target: string | null;
}

function currentMark(debate: Debate): Mark {
  if (debate.state === 'paused') return 'held';
  return debate.state === 'error' ? 'error' : 'live';
}

function judgeMark(debate: Debate): Mark {
  if (debate.verdict !== null) return 'done';
  if (debate.state === 'completed') return 'skipped';
  if (debate.state === 'judgeEvaluating') return 'live';
  return debate.current?.target === 'judgeEvaluating' && !isInRound(debate) ? currentMark(debate) : 'coming';
}

/** The stations of the track: openings, rounds, judge and verdict. */
export function stations(debate: Debate): Station[] {
  const judge = judgeMark(debate);
  const hasEndedRounds = judge !== 'coming' || debate.state === 'completed';
  const steps: [Phase, number][] = [['opening', 1]];
  for (let number = 1; number <= debate.maxRounds; number += 1)
    steps.push([phaseOf(debate.format, number, debate.maxRounds), number]);
  const rounds = steps.map(([phase, number]): Station => {
    const isRecorded = debate.rounds.some((one) => one.phase === phase && one.roundNumber === number);
    const isCurrent = isInRound(debate) && debate.current?.phase === phase && debate.current.roundNumber === number;
    const mark = isRecorded ? 'done' : isCurrent ? currentMark(debate) : hasEndedRounds ? 'skipped' : 'coming';
    const short = phase === 'opening' ? 'Op' : phase === 'closing' ? 'Cl' : String(number);
    const target = isRecorded || isCurrent ? roundId(phase, number) : null;
    return { key: `${phase}-${number}`, label: roundTitle(phase, number), short, mark, target };
  });
  const verdict: Mark = debate.verdict !== null ? 'done' : debate.state === 'completed' ? 'skipped' : 'coming';
  return [
    ...rounds,
    { key: 'judge', label: 'Judge', short: 'Judge', mark: judge, target: null },
    {
      key: 'verdict',
      label: 'Verdict',
      short: 'Verdict',
      mark: verdict,
      target: debate.verdict === null ? null : 'verdict',
    },
  ];
}

export interface Budget {
  cost: number;
  warn: number | null;
  limit: number | null;
  hasWarned: boolean;
  /** The average cost of a round so far. */
  perRound: number | null;
  /** The cost after the rounds that are left, without the judge. */
  forecast: number | null;
  /** The right end of the meter; null if there is nothing to measure against. */
  end: number | null;
}

export function budgetOf(debate: Debate): Budget {
  const tracker = debate.costTracker;
  const cost = Number(tracker.totalCost);
  const warn = tracker.warningThreshold === null ? null : Number(tracker.warningThreshold);
  const limit = tracker.limitThreshold === null ? null : Number(tracker.limitThreshold);
  const spent = debate.rounds.reduce((sum, round) => sum + Number(round.costThisRound), 0);
  const perRound = debate.rounds.length > 0 && cost > 0 ? spent / debate.rounds.length : null;
  const left = debate.maxRounds + 1 - debate.rounds.length;
  const isOver = debate.state === 'completed' || debate.state === 'judgeEvaluating';
  const forecast = perRound === null || isOver || left <= 0 ? null : Math.max(cost, spent + perRound * left);
  return {
    cost,
    warn,
    limit,
    hasWarned: tracker.warnings.length > 0,
    perRound,
    forecast,
    end: limit ?? (warn === null ? null : warn * 1.25),
  };
}

/** The warning about costs that nobody has answered. */
export function openWarning(debate: Debate): { threshold: string; currentCost: string } | null {
  return debate.costTracker.warnings.findLast((warning) => !warning.acknowledged) ?? null;
}

/** Who won, in a few words. */
export function decision(debate: Debate): string {
  const { verdict } = debate;
  if (verdict === null) return '';
  if (verdict.tie || verdict.winner === null) return 'A tie';
  const scores = Object.values(verdict.scores).sort((a, b) => b - a);
  const lead = (scores[0] ?? 0) - (scores[1] ?? 0);
  return `${nameOf(debate, verdict.winner)} wins by ${lead} ${lead === 1 ? 'point' : 'points'}`;
}
