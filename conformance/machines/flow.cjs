// The chat for XState: the chart as it is, and the functions of chat/machine/flow.py under its names.
const { assign, cancel, emit, enqueueActions, sendParent, setup, spawnChild, stopChild } = require("xstate");
const consensus = require("./chat/consensus.cjs");
const { output } = require("./chat/crystal.cjs");
const limits = require("./chat/limits.cjs");
const operations = require("./chat/operations.cjs");
const { areToolsRunning, isBusy, refusal } = require("./chat/refusals.cjs");
const replies = require("./chat/replies.cjs");
const { timeOf, withoutConsent, withoutPermission } = require("./python.cjs");
const { initialContext } = require("./chat/settings.cjs");

const update = (f) => assign(({ context, event }) => f(context, event));
const timed = (f) => assign(({ context, event, self }) => f(context, { ...event, messageAt: event.at ?? timeOf(self) }));
const doing = (f) => enqueueActions(({ context, event, enqueue }) => f(context, event, enqueue));
const child = (src, input) => spawnChild(src, { id: src, input: ({ context }) => input(context) });
const parentOf = ({ self }) => self._parent;

const isAccepted = (c, e) => refusal(c, e) === null;
const isWaiting = (c) => c.reply !== null && c.reply.waiting;
const waitsAtLimit = (c) => isWaiting(c) && c.reply.limit != null;
const isCurrentReply = (c, e) => c.reply?.phase === "replying" && c.reply.requestId === e.requestId;
const mustReportEnd = (c) => c.run !== null && c.reply === null;
const mustRefuseAloud = (c, e) => c.reportsToParent && e.runId != null;
const inPhase = (phase) => (c) => c.reply?.phase === phase;
const runOf = (c) => c.run?.runId ?? null;
const waiting = (c, reason, runId) => ({
  type: "WAIT", reason, runId, cost: c.metrics.costUsd, ...(c.reply.request ? { requests: [c.reply.request] } : {}),
});
const report = ({ run: { runId, cost, duration, outcome, error } }) => ({
  type: { completed: "COMPLETE", failed: "FAIL", cancelled: "STOP" }[outcome], runId, cost, duration,
  ...(outcome === "failed" ? { error } : {}),
});
const refusedAloud = (c, e) => {
  const message = refusal(c, e) || "the conversation is not open for messages";
  const error = { code: "message_refused", message, recoverable: true };
  return { type: "FAIL", runId: e.runId, error, cost: c.metrics.costUsd, duration: 0 };
};
const cutReply = (c, e, enqueue) => {
  const { phase, cut, requestId } = c.reply;
  if (phase === "replying" && cut === null) {
    const joins = e.type === "message" && c.config.onBusy === "merge";
    enqueue.assign({ reply: { ...c.reply, cut: joins ? "discard" : "keep" } });
    enqueue.sendTo("reply", { type: "CANCEL", requestId });
    return;
  }
  enqueue("disarmTimeout");
  const children = { replying: "reply", compressing: "summariser", tools: "tools" };
  if (phase in children) enqueue.stopChild(children[phase]);
  enqueue.assign(({ context }) => replies.cut(replies.withoutLimit(context), {}));
};

const actions = {
  emitOutput: emit(({ context, event }, params) => output(context, event, params)),
  configure: update(operations.configured),
  appendMessage: update(operations.say),
  queueMessage: update(operations.queued),
  sendNext: update(operations.nextSaid),
  injectContext: update(operations.injected),
  markCheckpoint: update(operations.marked),
  rewind: update(operations.rewound),
  planFork: update(operations.forkPlanned),
  confirmFork: update(operations.forked),
  cancelFork: assign({ fork: null }),
  planMerge: update(operations.mergePlanned),
  resolveConflict: update(operations.conflictResolved),
  confirmMerge: update(operations.mergeDone),
  cancelMerge: assign({ merge: null }),
  switchBranch: update(operations.switched),
  closeBranch: update(operations.closed),
  pinMessage: update(operations.pinned),
  flush: update(operations.flushed),
  crystallizePlainly: update(operations.crystallizedPlainly),
  reset: update(operations.emptiedAgain),
  beginSummary: update((c) => replies.withPhase(c, "compressing")),
  spawnSummariser: child("summariser", replies.summaryInput),
  applySummary: update(replies.summarised),
  beginReply: update(replies.begun),
  spawnReply: child("reply", replies.replyInput),
  stopReply: stopChild("reply"),
  armTimeout: doing((c, e, enqueue) => {
    if (c.config.turnTimeoutMs === null || c.reply === null) return;
    enqueue.raise({ type: "turn_timeout", requestId: c.reply.requestId }, { delay: c.config.turnTimeoutMs, id: "turnTimeout" });
  }),
  disarmTimeout: cancel("turnTimeout"),
  noteTimeout: update((c) => ({ reply: { ...c.reply, error: replies.TIMED_OUT } })),
  cutReply: doing(cutReply),
  keepReply: timed(replies.completed),
  keepFailure: timed(replies.failed),
  keepCut: timed(replies.cut),
  keepRest: timed(replies.rest),
  refuseTools: update(replies.toolsRefused),
  awaitResults: update(replies.resultsAwaited),
  reportAwaiting: doing((c, e, enqueue) => {
    if (c.reportsToParent) enqueue.sendTo(parentOf, waiting(c, "tools", runOf(c)));
  }),
  answerLimit: update(replies.limitAnswered),
  raiseLimit: update(operations.limitRaised),
  reportLimit: doing((c, e, enqueue) => {
    if (c.reportsToParent) enqueue.sendTo(parentOf, waiting(c, "limit", runOf(c)));
  }),
  ...Object.fromEntries(Object.entries(limits.actions).map(([name, f]) => [name, update(f)])),
  ...Object.fromEntries(Object.entries(limits.effects).map(([name, f]) => [name, doing(f)])),
  appendResults: update(replies.answered),
  beginTools: update((c) => replies.withPhase(c, "tools", { called: true })),
  spawnTools: child("tools", replies.toolsInput),
  tellProblems: doing((c, e, enqueue) => {
    for (const { id, name, problem } of replies.toolsInput(c).calls) if (problem) enqueue.emit({ type: "call_refused", id, name, message: problem });
  }),
  stopTools: stopChild("tools"),
  goOnIfWaited: doing((c, e, enqueue) => {
    if (c.reportsToParent && isWaiting(c) && e.runId == null) enqueue.sendTo(parentOf, { type: "GO_ON", runId: runOf(c) });
  }),
  revokePermission: update((c, { permission }) => ({
    config: { ...c.config, consent: c.config.consent && withoutConsent(c.config.consent, permission) },
    overrides: withoutPermission(c.overrides, permission),
  })),
  passRevocation: doing((c, { permission }, enqueue) => {
    if (areToolsRunning(c)) enqueue.sendTo("tools", { type: "REVOKE", permission });
  }),
  keepAnswers: update(replies.toolsDone),
  loseRequest: update(replies.requestLost),
  resumeTurn: update(replies.turnResumed),
  retryReply: update(operations.retried),
  keepRequest: update((c, { type, ...request }) => {
    const known = "address" in request ? { ...request, address: `tools/${request.address}` } : null;
    return { reply: { ...c.reply, waiting: true, request: known } };
  }),
  forgetRequest: update((c) => limits.continued({ ...c, reply: { ...c.reply, waiting: false, request: null } }, null)),
  reportWaiting: doing((c, e, enqueue) => {
    if (c.reportsToParent) enqueue.sendTo(parentOf, waiting(c, e.reason ?? null, runOf(c)));
  }),
  reportAgain: sendParent(({ context, event }) => waiting(context, context.reply.request?.reason ?? (waitsAtLimit(context) ? "limit" : "permission"), event.runId)),
  reportToParent: sendParent(({ context }) => report(context)),
  endRun: assign({ run: null }),
  refuseAloud: sendParent(({ context, event }) => refusedAloud(context, event)),
  requestProposal: update(consensus.proposalRequested),
  beginProposal: update((c) => consensus.changed(c, { phase: "asked" })),
  spawnReconciler: child("reconciler", consensus.proposalInput),
  stopReconciler: stopChild("reconciler"),
  limitProposal: update(consensus.limited),
  keepProposal: update(replies.proposalKept),
  failProposal: update(replies.proposalFailed),
  setProposal: update(consensus.given),
  cancelProposal: update(consensus.cancelled),
  beginCrystal: update((c, e) => ({ crystallizing: e.trigger || "close" })),
  spawnCrystallizer: child("crystallizer", replies.crystalInput),
  stopCrystallizer: stopChild("crystallizer"),
  keepCrystal: update(replies.crystallized),
  failCrystal: update(replies.crystalFailed),
  cancelCrystal: assign({ crystallizing: null }),
};
const guards = {
  isAccepted,
  acceptsMessage: (c, e) => !isBusy(c) && isAccepted(c, e),
  queuesMessage: (c, e) => c.config.onBusy === "queue" && isAccepted(c, e),
  interruptsReply: isAccepted,
  startsByItself: (c, e) => c.config.autoStart && isAccepted(c, e),
  mustSendNext: (c) => c.reply === null && c.queue.length > 0,
  mustSummarise: replies.summaryWanted,
  mustReply: (c) => c.reply?.phase === "wanted" && !c.reply.waiting,
  costsTooMuch: (c, e) => isCurrentReply(c, e) && replies.costsTooMuch(c, e),
  mustAwaitResults: replies.resultsWanted,
  mustRefuseTools: replies.mustRefuseTools,
  ...limits.guards,
  mustReport: (c) => mustReportEnd(c) && !c.queue.length,
  mustReportEnd,
  mustRefuseAloud,
  isWaiting,
  mustAskAgain: (c, e) => isWaiting(c) && mustRefuseAloud(c, e),
  isReplyInFlight: (c) => c.reply !== null,
  isReplying: inPhase("replying"),
  isCompressing: inPhase("compressing"),
  isAwaitingTool: inPhase("tools"),
  isRequestLost: replies.isRequestLost,
  mustCallTools: replies.toolsWanted,
  isCurrentReply,
  cutsOnStop: (c) => c.reply !== null && c.config.onStop === "cut",
  crystallizesPlainly: (c, e) => (c.config.model === null || Boolean(e.plain)) && isAccepted(c, e),
  mustPropose: consensus.mustPropose,
  isProposalLimited: consensus.isLimited,
  isProposing: consensus.isProposing,
  hasProposal: (c, e) => consensus.isProposing(c) && Boolean(e.output?.text),
  givesProposal: (c, e) => e.text != null && isAccepted(c, e),
  isCrystallizing: (c) => c.crystallizing !== null,
};
const bound = Object.entries(guards).map(([name, f]) => [name, ({ context, event }) => f(context, event)]);

exports.flowMachine = (chart, recorder) =>
  setup({
    actions, guards: Object.fromEntries(bound),
    actors: { reply: recorder, tools: recorder, summariser: recorder, crystallizer: recorder, reconciler: recorder },
  }).createMachine({ ...chart, context: ({ input }) => initialContext(input ?? {}) });
