/** The form of a new debate as it is filled in, and the settings that it stands for. */
import type { CreateDebate, ModelRow } from '../wire/types';
import { FORMATS, POSITIONS } from './validation';

export interface SeatDraft {
  /** Tells the rows of the form apart. */
  key: number;
  name: string;
  position: string;
  model: string;
  systemPrompt: string;
}

export interface Draft {
  topic: string;
  format: string;
  maxRounds: string;
  seats: SeatDraft[];
  judgeModel: string;
  criteria: string;
  costLimit: string;
  warnAtCost: string;
  onCostLimit: string;
  earlyStop: boolean;
  timeoutPerRound: string;
  maxTokens: string;
  contextLimit: string;
}

export const PERSONAS = ['Ada', 'Bruno', 'Clara', 'Dario'];
const DEMO = 'scripted:debate';

export function newSeat(key: number, position: string, model: string): SeatDraft {
  return { key, name: '', position, model, systemPrompt: '' };
}

/** The model that a new debate begins with: the first one that can be used, and the script if there is none. */
export function firstModel(models: readonly ModelRow[]): string {
  const usable = choices(models);
  return usable.find((name) => !name.startsWith('scripted:')) ?? (usable.includes(DEMO) ? DEMO : (usable[0] ?? DEMO));
}

/** Models that can be chosen as they are; `provider:*` stands for any model of a provider. */
export function choices(models: readonly ModelRow[]): string[] {
  return models.filter((row) => row.usable && !row.reference.endsWith(':*')).map((row) => row.reference);
}

/** Why a model cannot be used, if the server has said so. */
export function whyNot(models: readonly ModelRow[], reference: string): string {
  const provider = `${reference.split(':')[0]}:*`;
  const row = models.find((one) => one.reference === reference) ?? models.find((one) => one.reference === provider);
  return row === undefined || row.usable ? '' : row.why;
}

export function newDraft(): Draft {
  return {
    topic: '',
    format: FORMATS[0],
    maxRounds: '3',
    seats: [newSeat(1, POSITIONS[0], ''), newSeat(2, POSITIONS[1], '')],
    judgeModel: '',
    criteria: 'argument, evidence, rebuttal, clarity',
    costLimit: '',
    warnAtCost: '',
    onCostLimit: 'error',
    earlyStop: false,
    timeoutPerRound: '120',
    maxTokens: '1024',
    contextLimit: '8000',
  };
}

/** A number if the text is one; another text is left as it is, and refused by the rules. */
function numberIn(value: string): number | string {
  const words = value.trim();
  return words !== '' && Number.isFinite(Number(words)) ? Number(words) : value;
}

function idOf(seats: readonly SeatDraft[], index: number): string {
  const side = seats[index]?.position ?? '';
  return seats.findIndex((seat) => seat.position === side) === index ? side : `${side}-${index}`;
}

function seatSettings(seats: readonly SeatDraft[], fallback: string): Record<string, unknown>[] {
  return seats.map((seat, index) => ({
    id: idOf(seats, index),
    position: seat.position,
    model: seat.model.trim() || fallback,
    ...(seat.name === '' ? {} : { name: seat.name }),
    ...(seat.systemPrompt.trim() === '' ? {} : { systemPrompt: seat.systemPrompt }),
  }));
}

/** The settings of a form; `fallback` is the model of debaters without one. */
export function settingsOf(draft: Draft, fallback: string): CreateDebate {
  const criteria = draft.criteria
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const judge = {
    evaluationCriteria: criteria,
    ...(draft.judgeModel.trim() === '' ? {} : { model: draft.judgeModel.trim() }),
  };
  const optional = Object.entries({ costLimit: draft.costLimit, warnAtCost: draft.warnAtCost }).filter(
    ([, value]) => value.trim() !== '',
  );
  const settings: Record<string, unknown> = {
    topic: draft.topic,
    format: draft.format,
    maxRounds: numberIn(draft.maxRounds),
    participants: seatSettings(draft.seats, fallback),
    judge,
    onCostLimit: draft.onCostLimit,
    earlyStop: draft.earlyStop,
    timeoutPerRound: numberIn(draft.timeoutPerRound),
    maxTokens: numberIn(draft.maxTokens),
    contextLimit: numberIn(draft.contextLimit),
    ...Object.fromEntries(optional.map(([key, value]) => [key, numberIn(value)])),
  };
  return settings as CreateDebate;
}
