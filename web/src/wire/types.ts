// Made by `make web-types` from the OpenAPI document of the server; do not edit.

/** A page of activities, the cursor after them, and whether there are more. */
export type ActivityList = {
  items: ActivityRow[];
  cursor: string;
  more: boolean;
};

/** An activity of a thread. */
export type ActivityRow = {
  seq: number;
  cursor: string;
  at: number;
  kind: string;
  facts: Record<string, unknown>;
  offset?: number;
  speaker?: string;
};

/** An actor of a tree, by its address, with the events that it takes. */
export type ActorRow = {
  address: string;
  src: string | null;
  status: string;
  value: unknown;
  machine: string | null;
  hash: string | null;
  can: string[];
};

/** The actors of a tree, and the events that the root actor takes now. */
export type ActorTree = {
  id: string;
  machine: string;
  version: unknown;
  hash: string;
  seq: number;
  cursor: string;
  forkedFrom: string | null;
  forkedStep: number | null;
  actors: ActorRow[];
  can: string[];
};

/** The agents of runs that name none, as their files have them. */
export type AgentList = {
  items: (Record<string, unknown>)[];
};

/** A page of the audit log, the newest first; `next` is the number before which the next page begins. */
export type AuditList = {
  items: AuditRow[];
  next: number | null;
};

/** A change by a token, or a refused attempt; `n` counts them, and `request` is the id of the request. */
export type AuditRow = {
  n: number;
  at: number;
  request: string;
  user: string;
  token: string | null;
  address: string;
  method: string;
  route: string;
  thread: string | null;
  status: number;
  code: string | null;
};

/** Changes of a thread; a title of null is derived from its first words again. */
export type ChangeThread = {
  title?: string | null;
  archived?: boolean;
};

/** The machines of the server. */
export type ChartList = {
  items: ChartRow[];
};

/** The chart of a machine as JSON of XState, and its events: which may come from outside, and their schemas. */
export type ChartReply = {
  id: string;
  version: unknown;
  hash: string;
  chart: Record<string, unknown>;
  config: Record<string, unknown>;
  events: Record<string, unknown>;
  public: string[];
};

/** A machine, the version and the hash of its chart. */
export type ChartRow = {
  id: string;
  version: unknown;
  hash: string;
};

/** The checkpoints of a chat, by id. */
export type Checkpoints = {
  items: Record<string, unknown>;
};

/** The agent of a run that works next. */
export type ChooseAgent = {
  name: string;
};

/** Rules together with the mode, how long a person may take to answer, and whether a function is asked first. */
export type ConsentSettings = {
  blocked?: string[];
  tripped?: string[];
  overrides?: Override[];
  autoAllow?: string[];
  mode?: 'plan' | 'ask' | 'auto-edit' | 'auto';
  timeoutMs?: number;
  approver?: boolean;
};

/** A new chat; `tools` are names of `GET /tools`, `history` is that of an export. */
export type CreateChat = {
  id?: string;
  title?: string | null;
  owner?: string;
  workspace?: string;
  mode?: 'plan' | 'ask' | 'auto-edit' | 'auto';
  maxToolRounds?: number | null;
  maxThreadToolRounds?: number | null;
  maxCostUsd?: number | null;
  maxThreadCostUsd?: number | null;
  maxWallMs?: number | null;
  maxThreadWallMs?: number | null;
  model?: string | null;
  system?: string | null;
  systemPlacement?: 'prepend' | 'inject';
  settings?: Record<string, unknown>;
  strategy?: 'none' | 'sliding' | 'summarise' | 'forget';
  summaries?: 'model' | 'plain';
  contextLimit?: number;
  compressAt?: number;
  resumeAt?: number;
  onBusy?: 'reject' | 'queue' | 'interrupt' | 'merge';
  onStop?: 'finish' | 'cut';
  maxBranches?: number;
  maxTurns?: number | null;
  maxQueue?: number;
  turnTimeoutMs?: number | null;
  warnAt?: number;
  autoStart?: boolean;
  consent?: ConsentSettings | null;
  clientTools?: boolean;
  kind: 'chat';
  tools?: string[];
  history?: Record<string, unknown>;
};

/** A new debate, with the debaters of `participants`, or one for each of `models`. */
export type CreateDebate = {
  id?: string;
  title?: string | null;
  owner?: string;
  kind: 'debate';
  topic: string;
  models?: string[];
  participants?: (Record<string, unknown>)[];
  judge?: Record<string, unknown> | null;
  format?: string;
  maxRounds?: number;
  maxTokens?: number;
  timeoutPerRound?: number;
  costLimit?: number | null;
  warnAtCost?: number | null;
  onCostLimit?: 'error' | 'judge';
  earlyStop?: boolean;
  contextLimit?: number;
};

/** A new run; without `agents`, those of `GET /agents`; `tools` are names of `GET /tools`. */
export type CreateRun = {
  id?: string;
  title?: string | null;
  owner?: string;
  workspace?: string;
  mode?: 'plan' | 'ask' | 'auto-edit' | 'auto';
  kind: 'run';
  model?: string | null;
  fallback?: string[];
  agents?: (Record<string, unknown>)[];
  plan?: Record<string, unknown>;
  arbiter?: Record<string, unknown> | null;
  defaultAgent?: string;
  tools?: string[];
  consent?: Record<string, unknown> | null;
  options?: Record<string, unknown>;
  session?: string;
  providerName?: string;
  dryRun?: boolean;
  maxIterations?: number | null;
  maxFailures?: number | null;
  maxCostUsd?: number | null;
  maxWallMs?: number | null;
  backoffMs?: number | null;
  longestBackoffMs?: number | null;
  graceMs?: number | null;
  mcp?: string;
};

/** A page of a journal; `next` is the step that the next page begins after. */
export type EntryList = {
  items: EntryRow[];
  next: number | null;
};

/** A step of a journal: the letter that an actor took, and what it changed. */
export type EntryRow = {
  seq: number;
  at: number;
  to: string;
  event: Record<string, unknown>;
  letter: string | null;
  value: unknown;
  status: string | null;
  emitted: unknown[];
};

/** The outcome of an event that was sent to an actor. */
export type EventReply = {
  status: string;
  seq: number;
  cursor: string;
};

/** The id of a new tree. */
export type ForkReply = {
  id: string;
};

/** The step that a new thread continues from; without it, the last one. */
export type ForkThread = {
  step?: number;
};

/** The state of the server. */
export type Health = {
  status: string;
  version?: string;
};

/** Words of a person that the debaters hear from now on. */
export type Interject = {
  text: string;
};

/** The branch to merge into the current one, and how. */
export type MergeBranch = {
  source?: string;
  strategy?: string;
};

/** The models that the server knows. */
export type ModelList = {
  items: ModelRow[];
};

/** A model, or all models of a provider, and whether it can be used; prices are USD for a million tokens. */
export type ModelRow = {
  reference: string;
  usable: boolean;
  why: string;
  note: string;
  price: Record<string, string> | null;
  window: number | null;
};

/** A branch of a chat: from a message, from a turn, or from the end of the current branch. */
export type NewBranch = {
  from?: string;
  name?: string;
  turn?: number;
};

/** The name of a checkpoint. */
export type NewCheckpoint = {
  name?: string;
};

/** Limits of a chat, or the cost limit of a debate. */
export type NewLimits = {
  maxToolRounds?: number | null;
  maxThreadToolRounds?: number | null;
  maxCostUsd?: number | null;
  maxThreadCostUsd?: number | null;
  maxWallMs?: number | null;
  maxThreadWallMs?: number | null;
  costLimit?: number;
};

/** A reply in progress, with its words so far; `state` is that of its machine, `sentAt` when it was requested. */
export type OpenReplyRow = {
  address: string;
  state: string;
  text: string;
  thinking: string;
  sentAt: number | null;
  attempt: number;
  error: Record<string, unknown> | null;
  retryMs: number | null;
  speaker?: string;
};

/** A thread as it is at `cursor`: `can` has the events that its actors take now, by their addresses. */
export type OpenedThread = {
  id: string;
  kind: string;
  status: string;
  title: string;
  model: string | null;
  branch: string;
  turns: number;
  costUsd: number;
  unpriced: number;
  updated: number;
  archived: boolean;
  owner: string;
  waiting: string | null;
  error: string | null;
  problem: string | null;
  listCursor: string;
  line?: string;
  matchCursor?: string;
  cursor: string;
  requests: RequestRow[];
  permissions: PermissionRow[];
  can: Record<string, string[]>;
  replies: OpenReplyRow[];
  transcript: boolean;
  content?: Record<string, unknown>;
};

/** A decision that holds for later calls: those that match a pattern, or those in a scope. */
export type Override = {
  decision: 'allow' | 'deny';
  pattern?: string;
  scope?: string;
  tool?: string;
  value?: string;
  sandbox?: boolean;
  network?: boolean;
  history?: string;
};

/** An event of the chat, run or debate itself, with its keys in `payload`. */
export type Perform = {
  action: string;
  payload?: Record<string, unknown>;
};

/** A permission that lasts, in words, and as a person or the settings gave it: by its scope, or by a pattern. */
export type PermissionRow = {
  id: string;
  text: string;
  decision: string;
  scope?: string;
  tool?: string;
  value?: string;
  pattern?: string;
  sandbox?: boolean;
  network?: boolean;
  history?: string;
};

/** The plan of a run, or null. */
export type PlanReply = {
  plan: Record<string, unknown> | null;
};

/** A problem (RFC 9457); `error` is the class in Python, and further members depend on its code. */
export type ProblemReply = {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  recoverable: boolean;
  error?: string;
  can?: Record<string, string[]>;
  open?: string[];
  offered?: string[];
  permission?: string;
  permissions?: string[];
  resume?: string;
  first?: number;
  fields?: (Record<string, string>)[];
  path?: string;
  allow?: string[];
  providerCode?: string;
  retryAfter?: number;
  requestId?: string;
};

/** The outcome of an event: `accepted`, or `duplicate` if its key was taken before; `cursor` is its step. */
export type ReceiptReply = {
  thread: string;
  status: string;
  seq: number;
  cursor: string;
};

/** A request to a person that waits for its answer. */
export type RequestRow = {
  id: string;
  address: string;
  reason: string;
  speaker?: string;
  text?: string;
  options?: unknown[];
  calls?: (Record<string, unknown>)[];
  timeoutMs?: number;
  limit?: Record<string, unknown>;
};

/** The decision about one conflict of a merge, or the turns of a manual one. */
export type ResolveMerge = {
  conflict?: string;
  pick?: 'ours' | 'theirs' | 'both' | 'neither';
  turns?: string[];
};

/** The answer to an open request: a text, or a decision; at a limit, the new limit. */
export type Respond = {
  requestId: string;
  text?: string;
  decision?: 'allow' | 'deny';
  scope?: 'once' | 'command' | 'folder' | 'host' | 'tool';
  reason?: string;
  limit?: number;
  outside?: boolean;
  arguments?: Record<string, Record<string, unknown>>;
};

/** The turns to go back, 1 by default, or the checkpoint to go back to. */
export type RewindChat = {
  turns?: number;
  checkpointId?: string;
};

/** A page of trees in the order of their ids; `next` is the id that the next page begins after. */
export type RootList = {
  items: RootRow[];
  next: string | null;
};

/** A tree of actors, of a thread or of another machine. */
export type RootRow = {
  id: string;
  machine: string;
  status: string;
  seq: number;
  updated: number;
};

/** An event to an actor of a tree; `to` is its address, and that of the root actor is empty. */
export type SendEvent = {
  event: Record<string, unknown>;
  to?: string;
};

/** A message of a person: a text, or parts; `onBusy` says what happens if the thread is running. */
export type SendMessage = {
  text?: string;
  parts?: (Record<string, unknown>)[];
  options?: Record<string, unknown>;
  onBusy?: 'reject' | 'queue' | 'interrupt' | 'merge';
};

/** The snapshot of a tree after a step. */
export type SnapshotReply = {
  id: string;
  step: number;
  snapshot: Record<string, unknown>;
};

/** The first message of a chat, or the task of a run, maybe with a plan; a debate starts without a text. */
export type StartThread = {
  text?: string;
  plan?: Record<string, unknown>;
};

/** A step of a journal with the tree after it, and the transitions that its actors took, in order. */
export type StepReply = {
  id: string;
  entry: EntryRow;
  actors: ActorRow[];
  snapshot: Record<string, unknown>;
  taken: TransitionRow[];
};

/** The id of a permission that lasts, which is taken back. */
export type TakeBack = {
  permission: string;
};

/** A page of threads; `next` is the cursor of the next page, or null at the end. */
export type ThreadList = {
  items: ThreadRow[];
  next: string | null;
};

/** A thread in a list; `line` is the line that a search has found, and `matchCursor` the place after it. */
export type ThreadRow = {
  id: string;
  kind: string;
  status: string;
  title: string;
  model: string | null;
  branch: string;
  turns: number;
  costUsd: number;
  unpriced: number;
  updated: number;
  archived: boolean;
  owner: string;
  waiting: string | null;
  error: string | null;
  problem: string | null;
  listCursor: string;
  line?: string;
  matchCursor?: string;
};

/** The tools of the server; none act on the host unless the operator allows a workspace. */
export type ToolList = {
  items: ToolRow[];
};

/** A tool that threads of this server may use. */
export type ToolRow = {
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  risk: string | null;
};

/** A transition that an actor took: by its state, the event as the chart names it, and its place among those for it. */
export type TransitionRow = {
  actor: string;
  source: string;
  event: string;
  index: number;
  targets: string[];
};

/** The cost of a thread, and the figures that its kind keeps. */
export type UsageReply = {
  kind: string;
  costUsd: number;
  figures: Record<string, unknown>;
};
