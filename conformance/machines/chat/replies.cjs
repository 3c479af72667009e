// Twins of chat/machine/replies.py: the life of a reply.
const { lastingOverrides } = require("../permission.cjs");
const { isObject } = require("../python.cjs");
const { crystalOf } = require("./crystal.cjs");
const { wantingReply } = require("./operations.cjs");
const { appended, callsOf, counting, headOf, textOf } = require("./tree.cjs");
const { asked, digest, rearmed, shift, shifted, view } = require("./windows.cjs");

const INTERRUPTED = { code: "interrupted", message: "the process was lost while tools were called", recoverable: true };
const TIMED_OUT = { code: "turn_timeout", message: "the turn took longer than it may", recoverable: true };
const facts = (e) => (isObject(e.output) ? e.output : {});
const withPhase = (c, phase, changes = {}) => ({ ...c, reply: { ...c.reply, phase, ...changes } });
const ended = (c, outcome, error = null) => ({ ...c, reply: null, run: c.run && { ...c.run, outcome, error } });
const spent = (c, e) => {
  const [usage, cost, duration] = [e.usage ?? {}, e.costUsd ?? 0, e.durationMs ?? 0];
  const unpriced = Object.keys(usage).length && e.costUsd == null ? 1 : 0;
  const counted = counting(c, {
    inputTokens: usage.input ?? 0, outputTokens: usage.output ?? 0, costUsd: cost, unpriced, durationMs: duration,
  });
  const run = c.run && { ...c.run, cost: c.run.cost + cost, duration: c.run.duration + duration };
  return { ...counted, run, metrics: { ...counted.metrics, slowestMs: Math.max(c.metrics.slowestMs, duration) } };
};
const keptText = (c, e) => (!e.text ? c : appended(c, c.reply.branch, {
  role: "assistant", parts: [{ type: "text", text: e.text }], interrupted: true, at: e.at,
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
const answered = (c, e) =>
  wantingReply(appended(c, c.reply.branch, { role: "tool", parts: e.results, at: e.at, id: e.id }), c.reply.branch);

module.exports = {
  answered, spent, withPhase, TIMED_OUT,
  summaryWanted: (c) => c.reply?.phase === "wanted" && c.config.strategy === "summarise" && c.config.summaries === "model"
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
    ...c.config.settings, requestId: c.reply.requestId, model: c.config.model, prompt: null,
    messages: withNote(asked(c, c.reply.branch), c.reply.prefix), reportsToParent: true,
  }),
  completed: (c, e) => {
    const { branch, cut } = c.reply;
    const parts = e.message?.parts ?? [];
    const draft = { role: "assistant", parts, source: e.message?.source, at: e.at, usage: e.usage, costUsd: e.costUsd };
    c = { ...counting(spent(appended(c, branch, draft), e), { replies: 1 }), lastError: null };
    return callsOf(parts).length && cut === null ? withPhase(c, "tools") : ended(c, "completed");
  },
  failed: (c, e) => {
    const error = errorOf(e.error);
    return ended({ ...counting(spent(keptText(c, e), e), { failures: 1 }), lastError: error }, "failed", error);
  },
  cut: (c, e) => {
    const { cut, error } = c.reply;
    c = counting(spent(cut === "discard" ? c : keptText(c, e), e), { cancelled: 1 });
    return error !== null ? ended({ ...c, lastError: error }, "failed", error) : ended(c, "cancelled");
  },
  toolsWanted: (c) => c.config.consent !== null && c.reply?.phase === "tools" && !c.reply.called,
  toolsInput: (c) => {
    const known = Object.fromEntries((c.config.settings.options?.tools ?? []).map((tool) => [tool.name, tool]));
    const calls = callsOf(c.messages[headOf(c, c.reply.branch)].parts);
    const given = c.config.consent ?? {};
    return {
      requestId: c.reply.requestId,
      calls: calls.map((call) => ({ ...call, risk: known[call.name]?.risk ?? "destructive" })),
      consent: { ...given, overrides: [...(given.overrides ?? []), ...c.overrides] },
      ...(given.timeoutMs == null ? {} : { timeoutMs: given.timeoutMs }),
    };
  },
  toolsDone: (c, { output: { results, permission, lost } }) => {
    if (permission?.decision === "allowed" && permission.scope === "thread") {
      const isKnown = (one) => c.overrides.some((known) => known.pattern === one.pattern && known.decision === one.decision);
      c = { ...c, overrides: [...c.overrides, ...lastingOverrides(permission.calls).filter((one) => !isKnown(one))] };
    }
    c = answered(c, { results });
    return lost ? ended({ ...c, lastError: INTERRUPTED }, "failed", INTERRUPTED) : c;
  },
  crystalInput: (c) => ({ model: c.config.model, messages: asked(c, c.branch), branch: c.branch }),
  crystallized: (c, e) => {
    const crystal = crystalOf(c, facts(e), c.crystallizing, "model");
    return spent({ ...c, crystal, crystallizing: null, queue: [], lastError: null }, facts(e));
  },
  crystalFailed: (c, e) => ({ ...c, crystallizing: null, lastError: { ...errorOf(e.error), code: "crystallize_failed" } }),
};
