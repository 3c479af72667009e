// The thread machine for XState: the chart as it is, and the functions of threads/machine/thread.py under its names.
const { assign, emit, enqueueActions, setup } = require("xstate");
const { given, isObject, timeOf } = require("./python.cjs");

const PREFIXES = {
  interrupted: "[The session was interrupted before the last task was done. See how far it came, then go on.]\n\n",
  "post-merge": "[The work so far has been merged. Take the merged state as the starting point.]\n\n",
};
const TOLD = ["runId", "resumeReason", "waitingReason", "cost", "resultInfo"];
const isOfThisRun = (c, e) => e.runId == null || c.runId === null || c.runId === e.runId;
const isOfLastRun = (c, e) => e.runId != null && e.runId === c.runId;
const isInterruption = (c, e) => e.error?.code === "interrupted";
const beginRun = (c, e) => ({ runId: e.runId || `run-${c.runs + 1}`, runs: c.runs + 1 });
const note = (text, reason) => (typeof text === "string" && text.startsWith("/") ? "" : PREFIXES[reason] ?? "");
const told = (e) => {
  if (e.message != null) return { ...(isObject(e.message) ? e.message : { text: e.message }), type: "message" };
  if (e.retry) return { type: "retry" };
  return e.type === "RESTART" ? { type: "resume" } : null;
};
const below = (content, request) => ({ ...request, address: [content, request.address].filter(Boolean).join("/") });
const isKeyMissing = (e) => e.error?.code === "2003";
const isForKey = (request) => request.reason === "provider_error" && !request.address && "question" in request;
const keepRequests = (c, e) => ({
  requests: [...c.requests.filter(isForKey), ...(e.requests ?? []).map((request) => below(c.content, request))],
});
const requestKey = (c, e) => {
  const request = { id: `wait-${c.waits + 1}`, address: "", reason: "provider_error", question: e.error.message || "" };
  return { requests: [...keepRequests(c, e).requests, request], waits: c.waits + 1 };
};
const ownRequest = (c) => ({
  requests: [{ id: `wait-${c.waits + 1}`, address: "", reason: c.waitingReason || "question" }], waits: c.waits + 1,
});
const isAnswer = (c, e) => {
  if (e.requestId != null) return c.requests.some(({ id, address }) => id === e.requestId && !address);
  return c.content === null || e.message != null || Boolean(e.retry);
};
const update = (f) => assign(({ context, event }, params) => f(context, event, params));
const doing = (f) => enqueueActions(({ context, event, enqueue }) => f(context, event, enqueue));

const actions = {
  setResumeReason: update((c, e, params) => ({
    resumeReason: c.merged || e.postMerge ? "post-merge" : params.reason, merged: false,
  })),
  noteMerge: assign({ merged: true }),
  setArchived: update((c, e, params) => ({ archived: params.archived })),
  rename: update((c, e) => ({ title: e.title || null })),
  beginRun: update(beginRun),
  continueRun: update((c, e) => (e.runId || c.runId ? { runId: e.runId || c.runId } : beginRun(c, e))),
  confirmRun: update((c, e) => ({ runId: c.runId || e.runId || null })),
  updateCost: update((c, e) => ({ cost: e.cost ?? c.cost })),
  setResultInfo: update((c, e, params) => ({
    resultInfo: {
      status: params.status, cost: e.cost ?? c.cost, duration: e.duration || 0, ...(e.error == null ? {} : { error: e.error }),
    },
  })),
  clearResultInfo: assign({ resultInfo: null, completedAt: null }),
  noteEnd: assign(({ event, self }) => ({ completedAt: event.at ?? timeOf(self) })),
  setWaitingReason: update((c, e) => ({
    waitingReason: (isKeyMissing(e) ? "provider_error" : e.reason) || c.waitingReason,
  })),
  setRequests: update((c, e) => {
    if (isKeyMissing(e)) return requestKey(c, e);
    return "requests" in e ? keepRequests(c, e) : ownRequest(c);
  }),
  keepRequests: update(keepRequests),
  clearRequests: assign({ requests: [] }),
  loseProcess: update((c) => ({ processLost: true, permissionExpired: c.waitingReason === "permission" })),
  clearWaiting: assign({ waitingReason: null, processLost: false, permissionExpired: false }),
  tellStatus: emit(({ context }, params) => ({
    type: "status", ...params, ...Object.fromEntries(TOLD.map((key) => [key, context[key]])),
  })),
  startContent: doing((c, e, enqueue) => {
    if (c.kind === null || c.content !== null) return;
    enqueue.spawnChild(c.kind, { id: c.kind, input: { ...c.config, threadId: c.threadId, reportsToParent: true } });
    enqueue.assign({ content: c.kind });
  }),
  tellContent: doing((c, e, enqueue) => {
    const event = told(e);
    if (c.content === null || event === null) return;
    const about = { resumeReason: c.resumeReason, runId: c.runId, resumeNote: note(event.text, c.resumeReason) };
    enqueue.sendTo(c.content, { ...event, ...about });
  }),
  cancelContent: doing((c, e, enqueue) => {
    if (c.content !== null) enqueue.sendTo(c.content, { type: "cancel", runId: c.runId });
  }),
  forgetContent: doing((c, e, enqueue) => {
    if (c.content === null) return;
    enqueue.stopChild(c.content);
    enqueue.assign({ content: null });
  }),
};
const guard = (f) => ({ context, event }, params) => f(context, event, params);
const guards = {
  isOfThisRun: guard(isOfThisRun),
  isOfLastRun: guard(isOfLastRun),
  isInterruption: guard(isInterruption),
  isKeyMissing: guard((c, e) => isKeyMissing(e) && isOfThisRun(c, e)),
  isInterruptionOfThisRun: guard((c, e) => isInterruption(c, e) && isOfThisRun(c, e)),
  isInterruptionOfLastRun: guard((c, e) => isInterruption(c, e) && isOfLastRun(c, e)),
  isConfirmation: guard((c, e) => e.message == null && isOfThisRun(c, e)),
  canQueue: guard((c, e) => (c.config.onBusy ?? "reject") !== "reject" && c.content !== null && e.message != null),
  isAnswer: guard(isAnswer),
  isStatus: guard((c, e, params) => e.status === params.status),
  isTitle: guard((c, e) => e.title == null || typeof e.title === "string"),
  hasLostProcess: guard((c) => c.processLost),
};

exports.threadMachine = (chart, recorder) => {
  const actors = Object.fromEntries(["chat", "run", "debate"].map((kind) => [kind, recorder]));
  return setup({ actions, guards, actors }).createMachine({ ...chart, context: ({ input }) => given(chart, input ?? {}) });
};
