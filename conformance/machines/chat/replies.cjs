// Twins of chat/machine/replies.py: the life of a reply.
const { isObject } = require("../python.cjs");
const { problemWithCall } = require("../call_problems.cjs");
const { changed } = require("./consensus.cjs");
const { crystalOf } = require("./crystal.cjs");
const limits = require("./limits.cjs");
const { resumed, runBegun, wantingReply } = require("./operations.cjs");
const { appended, callsOf, counting, headOf, textOf } = require("./tree.cjs");
const { asked, digest, rearmed, shift, shifted, view } = require("./windows.cjs");

const INTERRUPTED = { code: "interrupted", message: "the process was lost while tools were called", recoverable: true };
const REQUEST_LOST = { code: "interrupted", message: "the process was lost while it asked for permission", recoverable: true };
const NO_CONSENT = {
  code: "no_consent", recoverable: false,
  message: "the model called tools, and the chat has no permissions for them; create it with consent, for example {'mode': 'ask'}",
};
const NO_TEXT = { code: "no_proposal", message: "the model answered without a text", recoverable: true };
const CONTINUE = "[The reply was cut at a limit, which was raised. Continue where it ends.]";
const TIMED_OUT = { code: "turn_timeout", message: "the turn took longer than it may", recoverable: true };
const timeIn = (e) => ("messageAt" in e ? e.messageAt : e.at);
const facts = (e) => (isObject(e.output) ? e.output : {});
const withPhase = (c, phase, changes = {}) => ({ ...c, reply: { ...c.reply, phase, ...changes } });
const ended = (c, outcome, error = null) => ({ ...c, reply: null, run: c.run && { ...c.run, outcome, error } });
const spent = (c, e) => {
  const [usage, cost, duration] = [e.usage ?? {}, e.costUsd ?? 0, e.durationMs ?? 0];
  const unpriced = Object.keys(usage).length && e.costUsd == null ? 1 : 0;
  c = limits.timed(limits.spending(c, "costUsd", cost), e.at, duration);
  const counted = counting(c, {
    inputTokens: usage.input ?? 0, outputTokens: usage.output ?? 0, costUsd: cost, unpriced, durationMs: duration,
  });
  const run = c.run && { ...c.run, cost: c.run.cost + cost, duration: c.run.duration + duration };
  return { ...counted, run, metrics: { ...counted.metrics, slowestMs: Math.max(c.metrics.slowestMs, duration) } };
};
const keptText = (c, e) => (!e.text ? c : appended(c, c.reply.branch, {
  role: "assistant", parts: [{ type: "text", text: e.text }], interrupted: true, at: timeIn(e),
}));
const errorOf = (error) => {
  const plain = { code: "reply_failed", recoverable: true };
  if (!isObject(error)) return { ...plain, message: String(error) };
  for (const key of ["code", "recoverable"]) if (key in error) plain[key] = error[key];
  return { ...plain, message: String(error.message ?? "") };
};
const withNote = (messages, note) => {
  if (!note) return messages;
  const last = messages.at(-1);
  if (last?.role !== "user") return [...messages, { role: "user", parts: [{ type: "text", text: note.trim() }] }];
  return [...messages.slice(0, -1), { ...last, parts: [{ type: "text", text: note }, ...last.parts] }];
};
const answered = (c, e) => wantingReply(
  limits.spending(appended(c.config.clientTools ? limits.continued(c, e.at ?? null) : c, c.reply.branch, { role: "tool", parts: e.results, at: e.at, id: e.id }), "toolRounds", 1), c.reply.branch);
const rest = (c, e) => wantingReply(spent(keptText(c, e), e), c.reply.branch, e.text ? CONTINUE : null);
const budgetOf = (c) => {
  const budgets = [limits.remaining(c, "costUsd"), c.config.settings.budgetUsd].filter((usd) => usd != null);
  return budgets.length ? { budgetUsd: Math.min(...budgets) } : {};
};
const refused = (c, error) => {
  const head = headOf(c, c.reply.branch);
  const calls = head === null ? [] : callsOf(c.messages[head].parts);
  const text = [{ type: "text", text: `not called: ${error.message}` }];
  const parts = calls.map((call) => ({ type: "toolResult", callId: call.id, parts: text, isError: true }));
  if (calls.length) c = appended(c, c.reply.branch, { role: "tool", parts });
  return ended({ ...c, lastError: error }, "failed", error);
};

module.exports = {
  answered, rest, spent, withPhase, TIMED_OUT,
  withoutLimit: (c) => (c.reply.limit == null ? c : { ...c, reply: { ...c.reply, limit: null } }),
  costsTooMuch: (c, e) => errorOf(e.error).code === "3002" && limits.isCostReached(spent(c, e)),
  toolsRefused: (c) => refused(c, NO_CONSENT),
  mustRefuseTools: (c) => c.reportsToParent && c.config.consent === null && !c.config.clientTools && c.reply?.phase === "tools",
  resultsWanted: (c) => c.config.clientTools && c.reply?.phase === "tools" && !c.reply.waiting,
  resultsAwaited: (c) => {
    const request = { id: c.reply.requestId, address: "", reason: "tools", calls: callsOf(c.messages[headOf(c, c.reply.branch)].parts) };
    return { ...c, reply: { ...c.reply, called: true, waiting: true, request } };
  },
  limitAnswered: (c, e) => {
    const name = c.reply.limit;
    c = limits.continued(c, e.at);
    if (e.decision === "allow") return limits.left(limits.raised(c, name, e.limit));
    return refused(c, { code: "limit_reached", message: limits.described(c, name), recoverable: true });
  },
  summaryWanted: (c) => c.reply?.phase === "wanted" && !c.reply.waiting && c.config.strategy === "summarise" && c.config.summaries === "model"
    && shift(c, c.reply.branch) !== null,
  summaryInput: (c) => {
    const [found, old] = [shift(c, c.reply.branch), view(c, c.reply.branch).summary];
    const messages = (found ? found.leftOut : []).map((id) => ({ role: c.messages[id].role, parts: c.messages[id].parts }));
    return { requestId: c.reply.requestId, model: c.config.model, summary: old ? textOf(old.parts) : null, messages };
  },
  summarised: (c, e) => {
    const { branch } = c.reply;
    const found = shift(c, branch);
    if (found) c = shifted(c, branch, found, facts(e).text || digest(c, branch, found));
    return withPhase(spent(c, facts(e)), "wanted");
  },
  begun: (c) => {
    const { branch } = c.reply;
    c = rearmed(c, branch);
    const found = shift(c, branch);
    if (found) c = shifted(c, branch, found, c.config.strategy === "summarise" ? digest(c, branch, found) : null);
    return withPhase(c, "replying");
  },
  replyInput: (c) => ({
    ...c.config.settings, ...budgetOf(c), requestId: c.reply.requestId, model: c.config.model, prompt: null,
    messages: withNote(asked(c, c.reply.branch), c.reply.prefix), reportsToParent: true,
  }),
  completed: (c, e) => {
    const { reply } = c;
    const { branch } = reply;
    const parts = e.message?.parts ?? [];
    const draft = { role: "assistant", parts, source: e.message?.source, at: timeIn(e), usage: e.usage, costUsd: e.costUsd };
    c = { ...counting(spent(appended(c, branch, draft), e), { replies: 1 }), lastError: null };
    const goesOn = callsOf(parts).length && (reply.cut === null || reply.limit != null);
    if (reply.limit != null) c = { ...c, reply: { ...c.reply, cut: null, limit: null } };
    return goesOn ? withPhase(c, "tools") : ended(c, "completed");
  },
  failed: (c, e) => {
    const error = errorOf(e.error);
    return ended({ ...counting(spent(keptText(c, e), e), { failures: 1 }), lastError: error }, "failed", error);
  },
  cut: (c, e) => {
    const { cut, error, limit } = c.reply;
    if (limit != null) return rest(c, e);
    c = counting(spent(cut === "discard" ? c : keptText(c, e), e), { cancelled: 1 });
    return error !== null ? ended({ ...c, lastError: error }, "failed", error) : ended(c, "cancelled");
  },
  toolsWanted: (c) => c.config.consent !== null && !c.config.clientTools && c.reply?.phase === "tools" && !c.reply.called && !c.reply.waiting,
  toolsInput: (c) => {
    const known = Object.fromEntries((c.config.settings.options?.tools ?? []).map((tool) => [tool.name, tool]));
    const calls = callsOf(c.messages[headOf(c, c.reply.branch)].parts);
    const given = c.config.consent ?? {};
    return {
      requestId: c.reply.requestId,
      calls: calls.map((call) => ({ ...call, risk: known[call.name]?.risk ?? null, ...problemWithCall(call, known) })),
      consent: { ...given, overrides: [...(given.overrides ?? []), ...c.overrides] },
      ...(given.timeoutMs == null ? {} : { timeoutMs: given.timeoutMs }),
    };
  },
  isRequestLost: (c, { output: { permission, lost } }) => c.reply?.phase === "tools" && lost && permission?.decision === "expired"
    && permission.reason === "the process that asked is gone" && !permission.id.endsWith("-again"),
  requestLost: (c) => ended({ ...(c.reply.waiting ? limits.continued(c, null) : c), lastError: REQUEST_LOST }, "failed", REQUEST_LOST),
  turnResumed: (c, e) => {
    const head = headOf(c, c.branch);
    const calls = head === null ? [] : callsOf(c.messages[head].parts);
    if (c.lastError?.message !== REQUEST_LOST.message || !calls.length) return resumed(c, e);
    return withPhase(wantingReply({ ...limits.continued(runBegun(c, e), e.at), lastError: null }, c.branch), "tools");
  },
  toolsDone: (c, { output: { results, overrides, lost } }) => {
    if (c.reply.waiting) c = limits.continued(c, null);
    const isKnown = (one) => c.overrides.some((known) => JSON.stringify(known) === JSON.stringify(one));
    c = { ...c, overrides: [...c.overrides, ...(overrides ?? []).filter((one) => !isKnown(one))] };
    c = answered(c, { results });
    return lost ? ended({ ...c, lastError: INTERRUPTED }, "failed", INTERRUPTED) : c;
  },
  proposalKept: (c, e) => {
    const { text, source = null, usage = null, costUsd = null } = facts(e);
    return spent(changed({ ...c, lastError: null }, { phase: "ready", text, source, usage, costUsd, error: null }), facts(e));
  },
  proposalFailed: (c, e) => {
    const error = errorOf(e.error || NO_TEXT);
    return spent(changed({ ...c, lastError: error }, { phase: "missing", error }), facts(e));
  },
  crystalInput: (c) => ({ model: c.config.model, messages: asked(c, c.branch), branch: c.branch }),
  crystallized: (c, e) => {
    const crystal = crystalOf(c, facts(e), c.crystallizing, "model");
    return spent({ ...c, crystal, crystallizing: null, queue: [], lastError: null }, facts(e));
  },
  crystalFailed: (c, e) => ({ ...c, crystallizing: null, lastError: { ...errorOf(e.error), code: "crystallize_failed" } }),
};
