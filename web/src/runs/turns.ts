/** The timeline of a run: its turns, what agents said and called in them, and the decisions between them. */
import type { ActivityRow } from '../wire/types';
import type { Plan, RunOutcome } from './content';

export type CallStatus = 'asked' | 'running' | 'done' | 'failed' | 'denied' | 'cancelled';

export interface Call {
  key: string;
  id: string;
  name: string;
  input: unknown;
  speaker: string;
  status: CallStatus;
  startedAt: number;
  endedAt: number | null;
  result: string;
  /** The diff of the file that a person was asked about. */
  diff: string | null;
  /** Whether a person has changed its arguments. */
  isEdited: boolean;
  /** When the question about it expires, in milliseconds since the epoch. */
  expiresAt: number | null;
  /** Whether nobody has answered that question in time. */
  isExpired: boolean;
}

export type Note = { kind: 'note'; key: string; at: number; severity: string; text: string };
export type Message = { kind: 'message'; key: string; at: number; speaker: string; text: string };
export type Calls = { kind: 'calls'; key: string; name: string; speaker: string; calls: Call[] };
export type Item = Note | Message | Calls;

export type Chooser = 'arbiter' | 'rule' | 'person';

export interface Turn {
  kind: 'turn';
  key: string;
  at: number;
  iteration: number;
  agents: string[];
  chooser: Chooser;
  reason: string;
  endedAt: number | null;
  result: 'working' | 'success' | 'failure' | 'cancelled';
  costUsd: number;
  tokens: number;
  items: Item[];
  /** How often the turn has changed; the same number is the same turn. */
  changes: number;
}

export type Start = { kind: 'start'; key: string; at: number; task: string };
export type End = { kind: 'end'; key: string; at: number; outcome: RunOutcome };
export type Row = Start | Turn | Note | End;

interface Decision {
  type?: string;
  mode?: string;
  reason?: string;
}

interface Entry {
  completedAt?: number;
  result?: string;
  costUsd?: number;
  tokenUsage?: { input?: number; output?: number };
}

const NOTES = new Set([
  'agent_failed',
  'recovering',
  'limit_reached',
  'interrupted',
  'failed',
  'cancelled',
  'fell_back',
  'rules_decided',
  'permission_revoked',
  'not_done',
]);
const RULE = 'rule of ';
const STEP_WORDS: Readonly<Record<string, string>> = { complete: 'done', skipped: 'skipped', failed: 'failed' };

class Builder {
  readonly rows: Row[] = [];
  private turn: Turn | null = null;
  private readonly calls = new Map<string, Call>();
  private readonly batches = new Map<string, Call[]>();
  private steps: readonly string[] = [];
  private hasPlan = false;

  add(activity: ActivityRow): void {
    const { kind, facts } = activity;
    if (this.turn !== null) this.turn.changes += 1;
    if (kind === 'task_started') this.start(activity);
    else if (kind === 'agent_started') this.begin(activity);
    else if (kind === 'agent_message') this.say(activity);
    else if (kind === 'tool_called') this.call(activity);
    else if (kind === 'agent_waits') this.ask(activity);
    else if (kind === 'agent_goes_on') this.goOn(activity);
    else if (kind === 'tool_ended') this.endCall(activity);
    else if (kind === 'tool_answered') this.answer(activity);
    else if (kind === 'agent_completed') this.complete(activity);
    else if (kind === 'plan_changed') this.readPlan(activity);
    else if (kind === 'status' && facts['resumeReason'] === 'interrupted' && facts['status'] === 'running')
      this.note(activity, 'Resumed');
    else if (kind === 'run_ended') this.end(activity);
    else if (NOTES.has(kind)) this.note(activity, noteText(activity));
  }

  private start(activity: ActivityRow): void {
    this.turn = null;
    this.steps = [];
    this.hasPlan = false;
    this.rows.push({
      kind: 'start',
      key: activity.cursor,
      at: activity.at,
      task: String(activity.facts['task'] ?? ''),
    });
  }

  private begin(activity: ActivityRow): void {
    const { facts } = activity;
    this.readPlan(activity);
    const crew = (facts['crew'] ?? []) as { mode?: string }[];
    const agents = crew.length > 0 ? crew.map((member) => member.mode ?? '') : [String(facts['agent'] ?? '')];
    const decision = (facts['decision'] ?? null) as Decision | null;
    const former = this.turn?.agents ?? [];
    this.cutShort(activity);
    const chooser = chooserOf(decision, agents, former);
    const reason =
      chooser === 'person' ? 'instead of the choice of the arbiter' : ruleText(decision?.reason ?? '', agents);
    this.turn = {
      kind: 'turn',
      key: activity.cursor,
      at: activity.at,
      iteration: Number(facts['iteration'] ?? 0),
      agents,
      chooser,
      reason,
      endedAt: null,
      result: 'working',
      costUsd: 0,
      tokens: 0,
      items: [],
      changes: 0,
    };
    this.rows.push(this.turn);
    this.batches.clear();
  }

  /** End a turn that is at work, with its calls. */
  private cutShort(activity: ActivityRow): void {
    if (this.turn?.result !== 'working') return;
    for (const item of this.turn.items) {
      if (item.kind !== 'calls') continue;
      for (const call of item.calls) {
        if (call.endedAt === null) Object.assign(call, { status: 'cancelled', endedAt: activity.at });
      }
    }
    this.turn = this.replace({ ...this.turn, result: 'cancelled', endedAt: activity.at });
  }

  private replace(turn: Turn): Turn {
    this.rows[this.rows.lastIndexOf(this.turn as Row)] = turn;
    return turn;
  }

  private push(item: Item): void {
    if (this.turn !== null) this.turn.items.push(item);
    else if (item.kind === 'note') this.rows.push(item);
  }

  private say(activity: ActivityRow): void {
    const speaker = activity.speaker ?? 'agent-0';
    this.batches.set(speaker, []);
    const text = String((activity.facts['message'] as { content?: string } | undefined)?.content ?? '');
    if (text.trim() !== '') this.push({ kind: 'message', key: activity.cursor, at: activity.at, speaker, text });
  }

  private call(activity: ActivityRow): void {
    const speaker = activity.speaker ?? 'agent-0';
    const { facts } = activity;
    const call: Call = {
      key: activity.cursor,
      id: String(facts['id']),
      name: String(facts['name']),
      input: facts['input'],
      speaker,
      status: 'running',
      startedAt: activity.at,
      endedAt: null,
      result: '',
      diff: null,
      isEdited: false,
      expiresAt: null,
      isExpired: false,
    };
    this.calls.set(`${speaker}/${call.id}`, call);
    this.batches.set(speaker, [...(this.batches.get(speaker) ?? []), call]);
    const last = this.turn?.items.at(-1);
    if (last?.kind === 'calls' && last.name === call.name && last.speaker === speaker) last.calls.push(call);
    else this.push({ kind: 'calls', key: activity.cursor, name: call.name, speaker, calls: [call] });
  }

  private ask(activity: ActivityRow): void {
    const asked = (activity.facts['calls'] ?? []) as { id: string; diff?: string }[];
    for (const part of asked) {
      const call = this.find(activity, part.id);
      if (call === undefined) continue;
      call.status = 'asked';
      call.diff = part.diff ?? null;
      const { timeoutMs } = activity.facts;
      call.expiresAt = typeof timeoutMs === 'number' ? activity.at + timeoutMs : null;
    }
  }

  private goOn(activity: ActivityRow): void {
    for (const call of this.batches.get(activity.speaker ?? 'agent-0') ?? []) {
      if (call.status !== 'asked') continue;
      call.status = 'running';
      // The time of a call does not count the time for which a person was asked.
      call.startedAt = activity.at;
    }
  }

  private find(activity: ActivityRow, id: unknown): Call | undefined {
    return this.calls.get(`${activity.speaker ?? 'agent-0'}/${String(id)}`);
  }

  private endCall(activity: ActivityRow): void {
    const { facts } = activity;
    const result = (facts['result'] ?? {}) as {
      callId?: string;
      parts?: { text?: string }[];
      message?: string;
      edited?: unknown;
    };
    const batch = this.batches.get(activity.speaker ?? 'agent-0') ?? [];
    const call = result.callId === undefined ? batch[Number(facts['call'])] : this.find(activity, result.callId);
    if (call === undefined) return;
    call.status = facts['failed'] === true ? 'failed' : 'done';
    call.endedAt = activity.at;
    if (result.edited !== undefined) Object.assign(call, { input: result.edited, diff: null, isEdited: true });
    call.result = (result.parts ?? []).map((part) => part.text ?? '').join('\n') || (result.message ?? '');
  }

  private answer(activity: ActivityRow): void {
    const answer = activity.facts['toolResult'] as { id?: string; isError?: boolean } | undefined;
    const call = this.find(activity, answer?.id);
    if (call === undefined || call.endedAt !== null) return;
    // A call that has a result and was never made was denied, by a person or by a rule.
    call.status = answer?.isError === true ? 'denied' : 'done';
    call.isExpired = call.status === 'denied' && call.expiresAt !== null && activity.at >= call.expiresAt;
    call.endedAt = activity.at;
  }

  private complete(activity: ActivityRow): void {
    const entries = (activity.facts['entries'] ?? []) as Entry[];
    if (this.turn !== null) {
      this.turn.endedAt = activity.at;
      this.turn.result = entries.some((entry) => entry.result === 'failure' || entry.result === 'error')
        ? 'failure'
        : 'success';
      for (const entry of entries) {
        this.turn.costUsd += entry.costUsd ?? 0;
        this.turn.tokens += (entry.tokenUsage?.input ?? 0) + (entry.tokenUsage?.output ?? 0);
      }
    }
    this.readPlan(activity);
  }

  private readPlan(activity: ActivityRow): void {
    const plan = activity.facts['plan'] as Plan | null | undefined;
    if (!plan) return;
    const statuses = plan.steps.map((step) => step.status);
    if (!this.hasPlan)
      this.note(activity, `Plan: ${plan.steps.length} ${plan.steps.length === 1 ? 'step' : 'steps'}`, 'info', 'plan');
    for (const [index, status] of statuses.entries()) {
      const word = STEP_WORDS[status];
      if (word !== undefined && status !== this.steps[index] && this.hasPlan) {
        this.note(
          activity,
          `Step ${index + 1} ${word}: ${plan.steps[index]?.description ?? ''}`,
          'info',
          `step-${index}`,
        );
      }
    }
    this.hasPlan = true;
    this.steps = statuses;
  }

  private note(
    activity: ActivityRow,
    text: string,
    severity = String(activity.facts['severity'] ?? 'info'),
    part = 'note',
  ): void {
    if (activity.kind === 'agent_failed' && this.turn !== null) {
      this.turn.result = 'failure';
      this.turn.endedAt = activity.at;
    }
    this.push({ kind: 'note', key: `${activity.cursor}-${part}`, at: activity.at, severity, text });
  }

  private end(activity: ActivityRow): void {
    this.cutShort(activity);
    this.readPlan(activity);
    this.turn = null;
    const outcome = activity.facts as unknown as RunOutcome;
    const startedAt = activity.facts['startedAt'];
    this.rows.push({
      kind: 'end',
      key: activity.cursor,
      at: activity.at,
      // A run that is cancelled knows no time; its journal does.
      outcome: typeof startedAt === 'number' ? { ...outcome, durationMs: activity.at - startedAt } : outcome,
    });
  }
}

function noteText(activity: ActivityRow): string {
  const { facts } = activity;
  const error = facts['error'] as { message?: string } | string | undefined;
  const message = typeof error === 'string' ? error : error?.message;
  const text = String(facts['text'] ?? facts['reason'] ?? activity.kind.replaceAll('_', ' '));
  return message === undefined || text.includes(message) ? text : `${text}: ${message}`;
}

/** A person's choice leaves the decision of the arbiter as it was, so it does not fit the agents. */
function chooserOf(decision: Decision | null, agents: readonly string[], former: readonly string[]): Chooser {
  if (decision === null) return 'person';
  if (
    decision.type === 'SELECT_MODE' &&
    agents.length === 1 &&
    decision.mode !== undefined &&
    decision.mode !== agents[0]
  )
    return 'person';
  if (decision.type === 'CONTINUE' && former.length === 1 && agents.length === 1 && former[0] !== agents[0])
    return 'person';
  return decision.reason?.startsWith(RULE) ? 'rule' : 'arbiter';
}

/** The rule of an agent says who follows it. */
function ruleText(reason: string, agents: readonly string[]): string {
  return reason.startsWith(RULE) ? `${reason.slice(RULE.length)} is followed by ${agents.join(' and ')}` : reason;
}

export function buildTimeline(activities: readonly ActivityRow[]): Row[] {
  const builder = new Builder();
  for (const activity of activities) builder.add(activity);
  return builder.rows;
}

/** The name of the agent that an actor of a turn stands for. */
export function agentName(turn: Turn | null, speaker: string | undefined): string {
  const number = Number((speaker ?? 'agent-0').replace('agent-', ''));
  return turn?.agents[number] ?? turn?.agents[0] ?? 'agent';
}
