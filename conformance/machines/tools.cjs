// The tools machine for XState: the chart as it is, and the functions of threads/machine/tools.py under its names.
const { assign, enqueueActions, sendTo, setup, spawnChild, stopChild } = require("xstate");
const { given, isObject } = require("./python.cjs");

const PROCESS_LOST = "the process that asked is gone";
const LOST = ["interrupted", "unknown"];
const child = (number) => `call-${number}`;
const failure = (callId, text) => ({ type: "toolResult", callId, parts: [{ type: "text", text }], isError: true });
const callOf = (c, e) => c.calls[Number(e.actorId.replace("call-", ""))].id;
const answered = (c, e, result, lost) => ({
  results: { ...c.results, [e.actorId]: result }, pending: c.pending.filter((id) => id !== e.actorId), lost: c.lost || lost,
});
const parentOf = ({ self }) => self._parent;
const requestOf = (e) => (({ id, calls, timeoutMs }) => ({ id, calls, timeoutMs }))(e.output?.request ?? e);
const isMakeable = (call) => !("problem" in call);
const update = (f) => assign(({ context, event }) => f(context, event));

const actions = {
  askPermission: spawnChild("permission", {
    id: "permission",
    input: ({ context: { requestId, calls, consent, timeoutMs } }) => ({
      id: requestId, calls: calls.filter(isMakeable), mode: consent.mode ?? "ask", timeoutMs, reportsToParent: true,
      rules: Object.fromEntries(["blocked", "tripped", "overrides", "autoAllow"].map((key) => [key, consent[key] ?? []])),
    }),
  }),
  keepPermission: update((c, e) => ({ permission: e.output })),
  refuseCalls: update((c) => {
    const text = `not allowed: ${c.permission ? c.permission.reason : "the request for permission failed"}`;
    return {
      results: { ...Object.fromEntries(c.calls.map((call, number) => [child(number), failure(call.id, text)])), ...c.results },
      lost: c.permission !== null && c.permission.decision === "expired" && c.permission.reason === PROCESS_LOST,
    };
  }),
  askApprover: enqueueActions(({ event, enqueue }) => {
    enqueue.spawnChild("approver", { id: "approver", input: { request: requestOf(event) } });
  }),
  applyApproval: enqueueActions(({ context, event, enqueue }) => {
    const { answer } = event.output;
    const decision = answer === true ? { type: "ALLOW" } : { type: "DENY", reason: answer };
    enqueue.sendTo("permission", { ...decision, id: context.requestId });
  }),
  askParent: enqueueActions(({ event, enqueue }) => {
    const request = requestOf(event);
    enqueue.assign({ request });
    enqueue.sendTo(parentOf, { type: "wait", reason: "permission", ...request, address: "permission" });
  }),
  goOn: enqueueActions(({ context: c, enqueue }) => {
    if (c.request === null || c.lost) return;
    enqueue.sendTo(parentOf, { type: "go_on", id: c.requestId, decision: c.permission?.decision ?? "denied" });
  }),
  watchProcess: spawnChild("process", { id: "process" }),
  forgetProcess: stopChild("process"),
  expirePermission: sendTo("permission", { type: "EXPIRE" }),
  startCalls: enqueueActions(({ context: { calls }, enqueue }) => {
    const made = calls.map((call, number) => [child(number), call]).filter(([, call]) => isMakeable(call));
    made.forEach(([id, call]) => enqueue.spawnChild("tool", { id, input: { call } }));
    enqueue.assign({ pending: made.map(([id]) => id) });
  }),
  keepResult: update((c, e) => {
    const isResult = isObject(e.output) && Array.isArray(e.output.parts);
    const kept = { ...e.output, type: "toolResult", callId: callOf(c, e) };
    return answered(c, e, isResult ? kept : failure(callOf(c, e), "failed: the tool gave no result"), false);
  }),
  keepFailure: update((c, e) => {
    const lost = isObject(e.error) && LOST.includes(e.error.code);
    const message = isObject(e.error) ? e.error.message : e.error;
    const text = lost ? `nobody knows how this ended: ${message}` : `failed: ${message}`;
    return answered(c, e, failure(callOf(c, e), text), lost);
  }),
  letGo: enqueueActions(({ event, enqueue }) => enqueue.stopChild(event.actorId)),
};
const guards = {
  hasApprover: ({ context }) => Boolean(context.consent.approver),
  isUndecided: ({ event }) => event.output.answer === null,
  hasNoCalls: ({ context: { calls } }) => calls.length > 0 && !calls.some(isMakeable),
  isAllowed: ({ event }) => event.output.decision === "allowed",
  isPending: ({ context, event }) => context.pending.includes(event.actorId),
  isAllAnswered: ({ context }) => !context.pending.length,
};

exports.toolsMachine = (chart, recorder, machineOf) =>
  setup({
    actions, guards,
    actors: { permission: machineOf("permission"), approver: recorder, tool: recorder, process: recorder },
  }).createMachine({
    ...chart,
    context: ({ input }) => {
      const context = given(chart, input);
      const answered = context.calls.flatMap((call, number) => (isMakeable(call) ? [] : [[child(number), failure(call.id, call.problem)]]));
      return { ...context, results: { ...Object.fromEntries(answered), ...context.results } };
    },
    output: ({ context: c }) => ({ results: c.calls.map((_, number) => c.results[child(number)]), permission: c.permission, lost: c.lost }),
  });
