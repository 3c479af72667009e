// The streaming machine for XState: the chart as it is, and the functions of machines/streaming*.py under its names.
const { assign, enqueueActions, setup, spawnChild, stopChild } = require("xstate");

const DEFAULTS = {
  model: null, options: {}, budgetUsd: null, firstEventMs: 300000, inactivityMs: 120000,
  maxAttempts: 3, backoffMs: 1000, longestRetryMs: 60000, retryAfterDelta: false,
};
const noReply = () => ({
  text: "", thinking: "", tools: {}, error: null, costUsd: null, durationMs: null, totalTokens: null,
  stop: null, usage: null, retryDelayMs: null, sentAt: null, firstTokenMs: null,
});
const initialContext = (given = {}) => ({
  requestId: null, sessionId: given.sessionId ?? null, ...noReply(), lastPrompt: null, messages: [...(given.messages ?? [])],
  cancelled: false, attempt: 0, streamEvents: 0, eventsAtLook: 0, staleEvents: 0, settledUsd: 0, spentUsd: 0,
  budgetWarned: false, reportsToParent: given.reportsToParent ?? false,
  settings: Object.fromEntries(Object.entries(DEFAULTS).map(([key, value]) => [key, key in given ? given[key] : value])),
});
const present = (facts) => Object.fromEntries(Object.entries(facts).filter(([, value]) => value != null));
const message = (role, text, requestId, at) => ({ role, parts: text ? [{ type: "text", text }] : [], ...present({ requestId, at }) });
const replyMessage = (c, e) => ({ ...message("assistant", c.text, c.requestId, e.at), ...(e.message ?? {}) });
const spent = (c, e) => (e.costUsd == null ? c.spentUsd : c.settledUsd + e.costUsd);
const hasBudget = (c) => c.settings.budgetUsd === null || c.spentUsd < c.settings.budgetUsd;
const isCurrent = (c, e) => e.requestId == null || e.requestId === c.requestId;
const failure = (code, message, recoverable) => ({ error: { code, message, recoverable } });
const planRetry = (c, e) => {
  const { error, settings, attempt } = c;
  if (!error || !error.recoverable || ["interrupted", "unknown"].includes(error.code) || attempt >= settings.maxAttempts) return null;
  if ((c.text || c.thinking || Object.keys(c.tools).length) && !settings.retryAfterDelta) return null;
  const delay = error.retryAfterMs ?? settings.backoffMs * 2 ** attempt * (1 + (e.jitter ?? 0) * 0.25);
  return delay <= settings.longestRetryMs && hasBudget(c) ? delay : null;
};
const update = (f) => assign(({ context, event }, params) => f(context, event, params));
const report = (f) => enqueueActions(({ context, event, enqueue }) => {
  const told = context.reportsToParent && f(context, event);
  if (told) enqueue.sendTo(({ self }) => self._parent, told);
});

const actions = {
  sendFirstPrompt: enqueueActions(({ event, enqueue }) => {
    const given = event.input ?? {};
    const named = Object.fromEntries(["prompt", "requestId", "at"].filter((key) => key in given).map((key) => [key, given[key]]));
    if ("prompt" in given) enqueue.raise({ type: "SEND", ...named });
  }),
  resetForNewMessage: update((c, e) => ({
    ...noReply(), requestId: e.requestId ?? null, sessionId: "sessionId" in e ? e.sessionId : c.sessionId,
    lastPrompt: e.prompt ?? c.lastPrompt,
    messages: e.prompt == null ? c.messages : [...c.messages, message("user", e.prompt, e.requestId, e.at)],
    cancelled: false, attempt: 0, sentAt: e.at ?? null, settledUsd: c.spentUsd,
  })),
  resetForRetry: update((c, e) => ({ ...noReply(), requestId: e.requestId || c.requestId, settledUsd: c.spentUsd })),
  fullReset: update((c) => ({ ...initialContext(), settings: c.settings, reportsToParent: c.reportsToParent })),
  firstAttempt: assign({ attempt: 0 }),
  nextAttempt: update((c) => ({ attempt: c.attempt + 1 })),
  startReply: spawnChild("streamReply", {
    id: "stream",
    input: ({ context: c }) => ({
      requestId: c.requestId, sessionId: c.sessionId, messages: c.messages, model: c.settings.model,
      options: c.settings.options, attempt: c.attempt, ...(c.settings.budgetUsd === null ? {} : { limited: true }),
    }),
  }),
  stopReply: stopChild("stream"),
  setRequest: update((c, e) => ({ requestId: e.requestId, sentAt: e.at ?? c.sentAt })),
  noteFirstEvent: update((c, e) => ({ firstTokenMs: c.sentAt === null || e.at == null ? null : e.at - c.sentAt })),
  appendText: update((c, e) => ({ text: c.text + e.content })),
  appendThinking: update((c, e) => ({ thinking: c.thinking + e.content })),
  startTool: update((c, e) => ({
    tools: { ...c.tools, [e.toolId]: { name: e.toolName, status: "running", ...("input" in e ? { input: e.input } : {}) } },
  })),
  completeTool: update((c, e) => {
    if (!(e.toolId in c.tools)) return {};
    const ended = { status: e.isError ? "error" : "complete", durationMs: e.durationMs, ...("result" in e ? { result: e.result } : {}) };
    return { tools: { ...c.tools, [e.toolId]: { ...c.tools[e.toolId], ...ended } } };
  }),
  interruptTools: update((c) => ({
    tools: Object.fromEntries(Object.entries(c.tools).map(([id, tool]) =>
      [id, tool.status === "running" ? { ...tool, status: "error", interrupted: true } : tool])),
  })),
  countEvent: update((c) => ({ streamEvents: c.streamEvents + 1 })),
  lookAtEvents: update((c) => ({ eventsAtLook: c.streamEvents })),
  countStale: update((c) => ({ staleEvents: c.staleEvents + 1 })),
  setCompletion: update((c, e) => ({
    costUsd: e.costUsd ?? null, durationMs: e.durationMs ?? null, totalTokens: e.totalTokens ?? null, stop: e.stop ?? null,
  })),
  keepReply: update((c, e) => {
    const reply = replyMessage(c, e);
    return reply.parts.length ? { messages: [...c.messages, reply] } : {};
  }),
  keepPartial: update((c) => c.text
    ? { messages: [...c.messages, { ...message("assistant", c.text, c.requestId, null), partial: true }] } : {}),
  setCancelled: assign({ cancelled: true, error: null, retryDelayMs: null }),
  setError: update((c, e) => ({
    error: { code: e.code, message: e.message, recoverable: e.recoverable, ...present({ retryAfterMs: e.retryAfterMs }) },
  })),
  setActorError: update((c, e) =>
    failure(e.error?.code || "1001", e.error?.message || "Failed to send message", e.error?.recoverable ?? true)),
  setTruncated: update(() => failure("1004", "The reply ended before it was complete", true)),
  setTimeoutError: update((c, e, params) => failure("1003", `Nothing came for ${c.settings[params.limit]} ms`, true)),
  setBudgetError: update((c) => failure("3002", `The budget of ${c.settings.budgetUsd} USD is spent`, false)),
  planRetry: update((c, e) => ({ retryDelayMs: planRetry(c, e) })),
  recordUsage: update((c, e) => ({ usage: e.usage ?? c.usage, spentUsd: spent(c, e) })),
  warnOfBudget: enqueueActions(({ context: c, enqueue }) => {
    const { budgetUsd } = c.settings;
    if (budgetUsd === null || c.budgetWarned || c.spentUsd < 0.8 * budgetUsd) return;
    enqueue.assign({ budgetWarned: true });
    enqueue.emit({ type: "BUDGET_WARNING", spentUsd: c.spentUsd, budgetUsd });
  }),
  reportStarted: report((c) => ({ type: "REPLY.STARTED", requestId: c.requestId })),
  reportCompleted: report((c, e) => ({
    type: "REPLY.COMPLETED", ...("problems" in e ? { problems: e.problems } : {}), message: replyMessage(c, e), requestId: c.requestId, usage: c.usage, costUsd: c.costUsd,
    durationMs: c.durationMs, totalTokens: c.totalTokens, stop: c.stop,
  })),
  reportFailed: report((c) => c.retryDelayMs === null && { type: "REPLY.FAILED", requestId: c.requestId, error: c.error, text: c.text, usage: c.usage, costUsd: c.spentUsd }),
  reportCancelled: report((c) => ({ type: "REPLY.CANCELLED", requestId: c.requestId, text: c.text, usage: c.usage, costUsd: c.spentUsd })),
};

const guard = (f) => ({ context, event }) => f(context, event);
const guards = {
  isCurrentRequest: guard(isCurrent),
  isStale: guard((c, e) => !isCurrent(c, e)),
  isOwnRequest: guard((c, e) => c.requestId === null || e.requestId === c.requestId),
  hasBudget: guard(hasBudget),
  breaksBudget: guard((c, e) => isCurrent(c, e) && c.settings.budgetUsd !== null && spent(c, e) > c.settings.budgetUsd),
  isSilent: guard((c) => c.streamEvents === c.eventsAtLook),
  isCancelled: guard((c) => c.cancelled),
  mustReport: guard((c) => c.reportsToParent),
  canAutoRetry: guard((c) => c.retryDelayMs !== null),
  canRetry: guard((c) => c.messages.length > 0 && hasBudget(c)),
};
const delays = {
  firstEvent: ({ context }) => context.settings.firstEventMs,
  inactivity: ({ context }) => context.settings.inactivityMs,
  retryDelay: ({ context }) => context.retryDelayMs ?? 0,
};

exports.streamingMachine = (chart, recorder) =>
  setup({ actions, guards, delays, actors: { streamReply: recorder } }).createMachine({
    ...chart, context: ({ input }) => initialContext(input ?? {}),
  });
