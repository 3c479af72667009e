// Twins of chat/machine/crystal.py and emitted.py: what remains of a conversation, and what is said about it.
const { hashAt, headOf, path, textOf, turnAt, turnsOf } = require("./tree.cjs");
const { reachedFacts, warningFacts } = require("./limits.cjs");
const { lineOf, utilisation, words } = require("./windows.cjs");
const { unresolved } = require("./merging.cjs");

const CODE = /^```([^\n`]*)\n(.*?)^```/gms;
const DECISION = /^\W*(?:decision|decided|we decided|we will|we'll|let's|agreed|i will|i'll)\b.*$/gim;

const plainCrystal = (c) => {
  const messages = path(c.messages, headOf(c));
  const asked = messages.find((message) => message.role === "user");
  const turns = turnsOf(messages.filter((message) => message.turn > 0)).slice(-20).flat();
  const decisions = messages.filter((message) => ["user", "assistant"].includes(message.role)).flatMap((message) =>
    [...textOf(message.parts).replace(CODE, "").matchAll(DECISION)].map(([line]) => [...line.trim()].slice(0, 200).join("")));
  const artifacts = messages.filter((message) => message.role === "assistant").flatMap((message) =>
    [...textOf(message.parts).matchAll(CODE)].map(([, language, content]) =>
      ({ language: language.trim() || null, content, message: message.id })));
  return {
    title: words(asked ? textOf(asked.parts) : "").slice(0, 8).join(" ") || "Untitled conversation",
    summary: turns.filter((message) => textOf(message.parts)).map(lineOf).join("\n"), decisions, artifacts,
  };
};
const isEmpty = (value) => value == null || value === "" || (Array.isArray(value) && !value.length);
const significance = (c, crystal) => {
  const led = Math.min(crystal.decisions.length + crystal.artifacts.length, 5) / 5;
  return Number((0.5 * (Math.min(c.metrics.turns, 20) / 20) + 0.5 * led).toFixed(3));
};
const crystalOf = (c, found, trigger, by) => {
  const plain = plainCrystal(c);
  const crystal = Object.fromEntries(Object.keys(plain).map((key) => [key, isEmpty(found[key]) ? plain[key] : found[key]]));
  const hash = hashAt(c.messages, headOf(c));
  return { ...crystal, by, trigger: trigger || "close", branch: c.branch, hash, significance: significance(c, crystal) };
};
const harvest = (c) => ({
  ...c.metrics,
  totalTokens: c.metrics.inputTokens + c.metrics.outputTokens,
  averageMs: c.metrics.replies ? c.metrics.durationMs / c.metrics.replies : 0,
  utilisation: utilisation(c, c.branch),
  branches: Object.keys(c.branches).length + Object.keys(c.closed).length,
  checkpoints: Object.keys(c.checkpoints).length,
});

const where = (c) => ({ branch: c.branch, head: headOf(c), turns: turnAt(c.messages, headOf(c)) });
const converging = ({ merge }) =>
  ({ source: merge.source, target: merge.target, conflicts: unresolved(merge).map((conflict) => conflict.id) });
const proposing = ({ merge: { source, target, proposal: { requestId, text, error } } }) => ({ source, target, requestId, text, error });
const FACTS = {
  started: () => ({ ready: true }),
  configured: (c) => ({ config: c.config }),
  message_processed: (c, e) => {
    const branch = c.reply ? c.reply.branch : e.branch || c.branch;
    const message = headOf(c, branch);
    return { message, branch, turns: turnAt(c.messages, message), requestId: c.reply ? c.reply.requestId : null };
  },
  permission_asked: (c, { type, ...facts }) => facts,
  permission_answered: (c, e) => ({ id: e.id ?? null, decision: e.decision ?? null }),
  limit_reached: reachedFacts,
  results_awaited: ({ reply: { request: { id, address, calls } } }) => ({ id, address, calls }),
  limit_warning: warningFacts,
  permission_revoked: (c, e) => ({ permission: e.permission }),
  limit_answered: (c, e) => ({ id: e.id, decision: e.decision }),
  message_queued: (c) => ({ waiting: c.queue.length }),
  fork_initiated: (c) => c.fork,
  checkpointed: (c) => ({ ...where(c), checkpointId: `c${hashAt(c.messages, headOf(c))}` }),
  merge_initiated: converging,
  conflict_resolved: converging,
  proposal_requested: proposing,
  merge_proposed: proposing,
  proposal_failed: proposing,
  stopping: (c) => ({ waitsForReply: c.reply !== null }),
  crystallized: (c) => ({ crystal: c.crystal }),
  crystallize_failed: (c) => ({ error: c.lastError }),
  reply_failed: (c) => ({ ...where(c), error: c.lastError }),
  reset: () => ({}),
  harvested: (c) => ({ metrics: harvest(c), crystal: c.crystal }),
};

exports.crystalOf = crystalOf;
exports.output = (c, e, params) => ({ type: params.event, ...(FACTS[params.event] ?? where)(c, e) });
