// The tools machine for XState: the chart as it is, and the functions of threads/machine/tools.py under its names.
const { assign, enqueueActions, sendTo, setup, spawnChild, stopChild } = require("xstate");
const { decide, scopeOverrides } = require("./permission.cjs");
const { given, isObject, withoutConsent, withoutPermission } = require("./python.cjs");

const PROCESS_LOST = "the process that asked is gone";
const LOST = ["interrupted", "unknown"];
const MOST_AT_ONCE = 8;
const WITHDRAWN = "permissions given before this thread was imported or restored no longer hold";
const child = (number) => `call-${number}`;
const failure = (callId, text) => ({ type: "toolResult", callId, parts: [{ type: "text", text }], isError: true });
const numberOf = (id) => Number(id.replace("call-", ""));
const callOf = (c, e) => c.calls[numberOf(e.actorId)].id;
const answered = (c, e, result, lost) => ({
  results: { ...c.results, [e.actorId]: result }, pending: c.pending.filter((id) => id !== e.actorId), lost: c.lost || lost,
});
const parentOf = ({ self }) => self._parent;
const requestOf = (e) => (({ id, calls, timeoutMs }) => ({ id, calls, timeoutMs }))(e.output?.request ?? e);
const isMakeable = (call) => !("problem" in call);
const problems = (calls) =>
  Object.fromEntries(calls.flatMap((call, number) => (isMakeable(call) ? [] : [[child(number), failure(call.id, call.problem)]])));
const continued = (history) => (history !== null && history.includes(".") ? history : null);
const modeOf = (c) => c.mode ?? (c.consents || c.consent.mode === "plan" ? c.consent.mode ?? "ask" : "ask");
const holds = (c) => (override) =>
  override.decision !== "allow" || ("scope" in override ? (override.history ?? null) === continued(c.history) : c.consents);
const deniedOf = (c) => c.asked.filter((id) => "denied" in c.calls[numberOf(id)]);
const messageOf = (error) => (isObject(error) ? error.message : error);
const start = (c, ids, granted, enqueue) => ids.forEach((id) =>
  enqueue.spawnChild("tool", { id, input: { call: c.calls[numberOf(id)], access: granted[id], history: c.history } }));
const permissionInput = (c) => ({
  id: c.requestId, calls: c.asked.map((id) => c.calls[numberOf(id)]), mode: modeOf(c), timeoutMs: c.timeoutMs, reportsToParent: true,
  rules: {
    blocked: c.consent.blocked ?? [], tripped: c.consent.tripped ?? [], overrides: (c.consent.overrides ?? []).filter(holds(c)),
    autoAllow: c.consents ? c.consent.autoAllow ?? [] : [], ...(c.consents || c.mode !== null ? {} : { notice: WITHDRAWN }),
  },
});
const decisions = (c) => {
  const { calls, mode, rules } = permissionInput(c);
  return JSON.stringify(decide(calls, mode, rules).calls.map((call) => call.decision));
};
const revoked = (c, { permission }) => ({
  consent: withoutConsent(c.consent, permission), overrides: withoutPermission(c.overrides, permission),
});
const update = (f) => assign(({ context, event }) => f(context, event));

const actions = {
  assessCalls: spawnChild("assess", {
    id: "assess", input: ({ context: { calls, shell } }) => ({ calls: calls.filter(isMakeable), shell }),
  }),
  forgetAssessment: stopChild("assess"),
  forgetPermission: stopChild("permission"),
  keepAssessments: update((c, { output }) => {
    const assessments = output.assessments[Symbol.iterator]();
    const calls = c.calls.map((call) => {
      if (!isMakeable(call)) return call;
      const { problem, ...assessment } = assessments.next().value;
      return { ...call, assessment, ...(problem === undefined ? {} : { problem }) };
    });
    const suffix = continued(output.history) !== null && c.requestId !== null ? `.${output.history.split(".").at(-1)}` : "";
    return {
      calls, results: { ...c.results, ...problems(calls) }, assessed: true, history: output.history, consents: output.consents,
      mode: output.mode, requestId: suffix ? c.requestId + suffix : c.requestId,
      asked: calls.flatMap((call, number) => (isMakeable(call) ? [child(number)] : [])),
    };
  }),
  refuseUnassessed: update((c, e) => {
    const calls = c.calls.map((call) => (isMakeable(call) ? { ...call, problem: `not called: ${messageOf(e.error)}` } : call));
    return { calls, results: { ...c.results, ...problems(calls) }, assessed: true };
  }),
  askPermission: spawnChild("permission", { id: "permission", input: ({ context }) => permissionInput(context) }),
  revoke: update(revoked),
  closeRequest: enqueueActions(({ context: c, enqueue }) => {
    if (c.request !== null) enqueue.sendTo(parentOf, { type: "go_on", id: c.requestId, decision: "expired" });
  }),
  renewRequest: update((c) => ({ requestId: c.requestId === null ? null : `${c.requestId}-revoked`, request: null })),
  forgetApprover: stopChild("approver"),
  keepPermission: update((c, { output }) => {
    if (output.decision !== "allowed") return { permission: output };
    const history = continued(c.history);
    const fresh = scopeOverrides(output.calls, output.scope).map((one) => (history === null ? one : { ...one, history }));
    const isKnown = (one) => c.overrides.some((known) => JSON.stringify(known) === JSON.stringify(one));
    return { permission: output, overrides: [...c.overrides, ...fresh.filter((one) => !isKnown(one))] };
  }),
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
  applyApproval: enqueueActions(({ event, enqueue }) => {
    const { answer, request } = event.output;
    const decision = answer === true ? { type: "ALLOW" } : { type: "DENY", reason: answer };
    enqueue.sendTo("permission", { ...decision, id: request.id });
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
  startCalls: enqueueActions(({ context: c, event, enqueue }) => {
    const granted = { ...c.granted, ...Object.fromEntries(c.asked.map((id, number) => [id, event.output.calls[number].access])) };
    enqueue.assign({ granted, pending: [...c.asked] });
    start(c, c.asked.slice(0, MOST_AT_ONCE), granted, enqueue);
    enqueue.assign({ queue: c.asked.slice(MOST_AT_ONCE) });
  }),
  startNext: enqueueActions(({ context: c, event, enqueue }) => {
    enqueue.stopChild(event.actorId);
    start(c, c.queue.slice(0, 1), c.granted, enqueue);
    enqueue.assign({ queue: c.queue.slice(1) });
  }),
  offerAgain: update((c) => ({
    offeredAgain: true, asked: deniedOf(c), requestId: c.requestId === null ? null : `${c.requestId}-again`, request: null,
  })),
  keepResult: update((c, e) => {
    if (!isObject(e.output) || !Array.isArray(e.output.parts))
      return answered(c, e, failure(callOf(c, e), "failed: the tool gave no result"), false);
    const { denied, ...result } = e.output;
    const kept = answered(c, e, { ...result, type: "toolResult", callId: callOf(c, e) }, false);
    if (!["write", "protected"].includes(denied)) return kept;
    return { ...kept, calls: c.calls.map((call, number) => (child(number) === e.actorId ? { ...call, denied } : call)) };
  }),
  keepFailure: update((c, e) => {
    const lost = isObject(e.error) && LOST.includes(e.error.code);
    const message = messageOf(e.error);
    const text = lost ? `nobody knows how this ended: ${message}` : `failed: ${message}`;
    return answered(c, e, failure(callOf(c, e), text), lost);
  }),
};
const guards = {
  hasApprover: ({ context }) => Boolean(context.consent.approver),
  isUndecided: ({ event }) => event.output.answer === null,
  hasNoCalls: ({ context: { calls } }) => calls.length > 0 && !calls.some(isMakeable),
  mustAskAnew: ({ context, event }) => decisions(context) !== decisions({ ...context, ...revoked(context, event) }),
  isAssessed: ({ context }) => context.assessed,
  isAllowed: ({ context, event }) => event.output.decision === "allowed" && event.output.id === context.requestId,
  mustOfferAgain: ({ context: c }) => modeOf(c) !== "plan" && !c.offeredAgain && !c.lost && !c.pending.length && deniedOf(c).length > 0,
  isPending: ({ context, event }) => context.pending.includes(event.actorId),
  isAllAnswered: ({ context }) => !context.pending.length,
};

exports.toolsMachine = (chart, recorder, machineOf) =>
  setup({
    actions, guards,
    actors: { assess: recorder, permission: machineOf("permission"), approver: recorder, tool: recorder, process: recorder },
  }).createMachine({
    ...chart,
    context: ({ input }) => {
      const context = given(chart, input);
      return { ...context, results: { ...problems(context.calls), ...context.results } };
    },
    output: ({ context: c }) => ({
      results: c.calls.map((_, number) => c.results[child(number)]), permission: c.permission, overrides: c.overrides, lost: c.lost,
    }),
  });
