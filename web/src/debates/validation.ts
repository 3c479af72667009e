/** The rules of a debate's settings: the same bounds and the same words as on the server. */

export type Settings = Readonly<Record<string, unknown>>;

export interface FieldProblem {
  field: string;
  problem: string;
}

type Rule = readonly [(value: unknown) => boolean, string];

export const FORMATS = ['oxford', 'lincoln-douglas', 'roundtable'] as const;
export const POSITIONS = ['for', 'against', 'neutral'] as const;
export const FEWEST = 2;
export const MOST = 4;
export const SHORTEST_TOPIC = 10;
export const LONGEST_TOPIC = 500;
const MOST_ROUNDS = 10;
const SMALLEST_LIMIT = 0.1;
// oxlint-disable-next-line no-control-regex -- the path of a file may have spaces, and no control characters
const REFERENCE = /^[a-z][a-z0-9_-]*(\+https?)?:(\S+|[^\x00-\x1f]+\.[gG][gG][uU][fF])$/u;

/** A value as Python writes it. */
export function repr(value: unknown): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(repr).join(', ')}]`;
  if (typeof value !== 'string') return String(value);
  const escaped = value
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t');
  return value.includes("'") && !value.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isRecord = (value: unknown): value is Settings =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const whole = (least: number, most: number): Rule => [
  (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most,
  `a whole number from ${least} to ${most}`,
];

const text = (least: number, most: number): Rule => [
  (value) => typeof value === 'string' && [...value.trim()].length >= least && [...value.trim()].length <= most,
  `a text of ${least} to ${most} characters`,
];

const oneOf = (...choices: readonly string[]): Rule => [
  (value) => choices.includes(value as string),
  `one of ${choices.join(', ')}`,
];

const names = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= 10 &&
  value.every((name) => typeof name === 'string' && name !== '');

const amountAbove = (least: number, words: string): Rule => [
  (value) => value === null || (isNumber(value) && value > least),
  words,
];

const RULES: Readonly<Record<string, Rule>> = {
  topic: text(SHORTEST_TOPIC, LONGEST_TOPIC),
  format: oneOf(...FORMATS),
  maxRounds: whole(1, MOST_ROUNDS),
  timeoutPerRound: [(value) => isNumber(value) && value > 0 && value <= 3600, 'seconds, above 0, up to 3600'],
  costLimit: amountAbove(SMALLEST_LIMIT, 'an amount in USD above 0.10, or null'),
  warnAtCost: amountAbove(0, 'an amount in USD above 0, or null'),
  onCostLimit: oneOf('error', 'judge'),
  earlyStop: [(value) => typeof value === 'boolean', 'true or false'],
  contextLimit: whole(200, 1_000_000),
  maxTokens: whole(1, 100_000),
  participants: [Array.isArray, 'a list'],
  judge: [(value) => value === null || isRecord(value), 'an object'],
};
const ID: Rule = [
  (value) => typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/.test(value),
  'a name of letters, digits, - and _, at most 32',
];
const SEAT_RULES: Readonly<Record<string, Rule>> = {
  id: ID,
  name: text(1, 80),
  position: oneOf(...POSITIONS),
  systemPrompt: text(0, 4000),
  model: [Boolean, 'a model'],
};
const JUDGE_RULES: Readonly<Record<string, Rule>> = {
  name: text(1, 80),
  evaluationCriteria: [names, 'a list of names'],
  model: [Boolean, 'a model'],
};

function fieldProblems(settings: Settings, rules: Readonly<Record<string, Rule>>, prefix: string): FieldProblem[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    const rule = rules[key];
    if (rule === undefined || rule[0](value)) return [];
    return [{ field: prefix + key, problem: `is ${repr(value)}; it must be ${rule[1]}` }];
  });
}

function modelProblems(model: unknown, field: string): FieldProblem[] {
  if (typeof model === 'string' && REFERENCE.test(model)) return [];
  return [{ field, problem: `is ${repr(model)}; it must be a reference like anthropic:claude-sonnet-5, or an object` }];
}

function seatProblems(seat: Settings, place: string): FieldProblem[] {
  const missing = ['id', 'position', 'model']
    .filter((key) => !(key in seat))
    .map((key) => ({ field: `${place}.${key}`, problem: 'is missing' }));
  return [
    ...fieldProblems(seat, SEAT_RULES, `${place}.`),
    ...missing,
    ...('model' in seat ? modelProblems(seat['model'], `${place}.model`) : []),
  ];
}

/** Why a format does not allow these positions, or null. */
export function seatsProblem(format: string, positions: readonly string[]): string | null {
  const count = positions.length;
  if (count < FEWEST || count > MOST) return `a debate has ${FEWEST} to ${MOST} participants, not ${count}`;
  if (format === 'lincoln-douglas' && [...positions].sort().join() !== 'against,for') {
    return 'lincoln-douglas has exactly two participants, one for and one against';
  }
  if (format === 'oxford' && (positions.includes('neutral') || new Set(positions).size < 2)) {
    return 'oxford needs participants for and against, and none that is neutral';
  }
  return null;
}

/** Every problem of the settings, by field. */
export function problemsOf(settings: Settings): FieldProblem[] {
  const problems = fieldProblems(settings, RULES, '');
  if (!('topic' in settings))
    problems.push({ field: 'topic', problem: `is missing; it must be ${RULES['topic']?.[1]}` });
  const { warnAtCost: warn, costLimit: limit, judge } = settings;
  if (isNumber(warn) && isNumber(limit) && warn >= limit)
    problems.push({ field: 'warnAtCost', problem: `is ${repr(warn)}; it must be below costLimit, ${repr(limit)}` });
  const seats = (Array.isArray(settings['participants']) ? settings['participants'] : []).filter(isRecord);
  problems.push(...seats.flatMap((seat, index) => seatProblems(seat, `participants[${index}]`)));
  if (isRecord(judge)) {
    problems.push(...fieldProblems(judge, JUDGE_RULES, 'judge.'));
    if ('model' in judge) problems.push(...modelProblems(judge['model'], 'judge.model'));
  }
  const ids = seats.map((seat) => seat['id']);
  if (new Set(ids).size < ids.length)
    problems.push({ field: 'participants', problem: `two participants have the same id: ${repr(ids)}` });
  // A seat without a name gets one that no other has.
  const given = seats.flatMap((seat) => (typeof seat['name'] === 'string' ? [seat['name'].trim()] : []));
  if (new Set(given).size < given.length)
    problems.push({ field: 'participants', problem: `two participants have the same name: ${repr(given)}` });
  const problem = seatsProblem(
    String(settings['format'] ?? 'oxford'),
    seats.map((seat) => String(seat['position'] ?? 'None')),
  );
  if (problem !== null) problems.push({ field: 'participants', problem });
  return problems;
}
