// Twins of chat/machine/validation.py: why a chat does not accept an event. Only what a parent may hear has its exact words.
const { isObject, isSame, repr } = require("../python.cjs");
const { LIMITS, described, spentOf } = require("./limits.cjs");
const { sides, unresolved } = require("./merging.cjs");
const { areSettings, givenSettings } = require("./settings.cjs");
const { callsOf, headOf, lastQuestion, turnAt } = require("./tree.cjs");

const IN_FLIGHT = "a reply is in flight; wait for it or cancel it";
const ROLES = ["system", "user", "assistant", "tool"];
const TAGS = ["REQUIRED", "PRESERVED", "DROPPABLE"];
const isIn = (key, known) => typeof key === "string" && Object.hasOwn(known, key);
const isBusy = (c) => c.reply !== null && !c.reply.waiting;
const turns = (c, branch) => turnAt(c.messages, headOf(c, branch));

const idOf = (c, e) => {
  if (e.id == null) return null;
  if (!(typeof e.id === "string" && e.id)) return `id is ${repr(e.id)}; it must be a text`;
  const isTaken = isIn(e.id, c.messages) || c.queue.some((item) => item.id === e.id);
  return isTaken ? `there is a message ${repr(e.id)} already` : null;
};
const content = (c, e) => {
  const role = "role" in e ? e.role : "user";
  if (!ROLES.includes(role)) return `unknown role ${repr(role)}; known: ${ROLES.join(", ")}`;
  const tags = e.tags ?? [];
  if (!Array.isArray(tags) || tags.some((tag) => !TAGS.includes(tag))) return `tags are ${repr(tags)}; known: ${TAGS.join(", ")}`;
  if (e.text && typeof e.text !== "string") return `text is ${repr(e.text)}; it must be a text`;
  return idOf(c, e);
};
const message = (c, e) => {
  const { maxTurns, maxQueue, onBusy } = c.config;
  const reason = content(c, e);
  if (reason) return reason;
  if (e.branch != null && !isIn(e.branch, c.branches)) return `there is no open branch ${repr(e.branch)}`;
  const count = turns(c, e.branch) + c.queue.length;
  if (maxTurns !== null && (e.role ?? "user") === "user" && count >= maxTurns)
    return `the conversation has ${count} turns, and ${maxTurns} are the most`;
  if (isBusy(c) && onBusy === "reject") return IN_FLIGHT;
  return isBusy(c) && c.queue.length >= maxQueue ? `${c.queue.length} messages wait already, and ${maxQueue} are the most` : null;
};
const isFull = (c) => Object.keys(c.branches).length >= c.config.maxBranches;
const fork = (c, e) => {
  const { name } = e;
  if (isFull(c)) return "too many branches";
  if (name != null && !(typeof name === "string" && name)) return "no name";
  if (isIn(name, c.branches) || isIn(name, c.closed)) return "known";
  if (e.from != null && !isIn(e.from, c.messages)) return "no message";
  return e.turn != null && !(Number.isInteger(e.turn) && e.turn >= 0 && e.turn <= turns(c)) ? "no turn" : null;
};
const rewind = (c, e) => {
  if (c.reply !== null) return IN_FLIGHT;
  if (e.message != null) return isIn(e.message, c.messages) ? null : "no message";
  if (e.checkpointId != null) return isIn(e.checkpointId, c.checkpoints) ? null : "no checkpoint";
  const back = "turns" in e ? e.turns : 1;
  return Number.isInteger(back) && back >= 0 && back <= turns(c) ? null : "too far";
};
const otherBranches = (c) => Object.keys(c.branches).filter((name) => name !== c.branch);
const merge = (c, e) => {
  if (c.reply !== null) return IN_FLIGHT;
  if (!otherBranches(c).length || (e.source != null && !otherBranches(c).includes(e.source))) return "no other branch";
  return ["sequential", "interleave", "manual", "consensus"].includes(e.strategy || "sequential") ? null : "no strategy";
};
const resolveConflict = (c, e) => {
  if (c.merge === null) return "no merge";
  if (e.turns != null) {
    const known = sides(c, c.merge).flat().map((turn) => turn[0].id);
    const isChoice = Array.isArray(e.turns) && new Set(e.turns).size === e.turns.length && e.turns.every((id) => known.includes(id));
    return isChoice && c.merge.strategy === "manual" ? null : "no choice";
  }
  if (e.conflict != null && !c.merge.conflicts.some((one) => one.id === e.conflict)) return "no conflict";
  return ["ours", "theirs", "both", "neither"].includes(e.pick || "ours") ? null : "no pick";
};
const close = (c, e) => {
  if (!isIn(e.branch, c.branches) || e.branch === c.branch) return "not to be closed";
  return c.queue.some((item) => item.branch === e.branch) || c.reply?.branch === e.branch ? IN_FLIGHT : null;
};
const answer = (c, e) => {
  const request = c.reply?.limit != null ? c.reply.request : null;
  if (request == null) return "the chat waits at no limit";
  if (e.id !== request.id) return `the request ${repr(e.id)} is not open; open: ${repr(request.id)}`;
  if (!["allow", "deny"].includes(e.decision)) return `decision is ${repr(e.decision)}; known: allow, deny`;
  if (e.limit == null) return null;
  const spent = spentOf(c, c.reply.limit);
  return typeof e.limit === "number" && e.limit > spent ? null : `limit is ${repr(e.limit)}; it must be a number above ${spent}`;
};
const raiseLimit = (c, e) => {
  const keys = Object.keys(givenSettings(e));
  return keys.length && keys.every((key) => key in LIMITS) && areSettings(givenSettings(e)) ? null : "no limits";
};
const retry = (c) => {
  if (isBusy(c)) return IN_FLIGHT;
  if (c.config.model === null) return "there is no model to ask";
  return lastQuestion(c) ? null : "nothing was asked yet";
};
const resume = (c, e) => {
  const reason = retry(c);
  if (reason || headOf(c) === null || e.resumeNote) return reason;
  const last = c.messages[headOf(c)];
  return last.role === "assistant" && !last.interrupted && !callsOf(last.parts).length ? "the last question was answered" : null;
};
const toolResults = (c, e) => {
  if (c.reply?.phase !== "tools") return "no tool was asked for";
  if (c.reply.limit != null) return described(c, c.reply.limit);
  if (!Array.isArray(e.results) || e.results.some((part) => part?.type !== "toolResult")) return "no results";
  return idOf(c, e);
};
const ending = (c) => (c.reply !== null ? IN_FLIGHT : c.crystallizing ? "the crystal is being made" : null);
const configure = (c, e) => ((!e.config || isObject(e.config)) && areSettings(givenSettings(e)) ? null : "no settings");

const areToolsRunning = ({ reply, config }) =>
  config.consent !== null && !config.clientTools && reply?.phase === "tools" && reply.called;
const revoke = (c, { permission }) => {
  const known = [...(c.config.consent?.overrides ?? []), ...c.overrides].filter((one) => one.decision === "allow");
  return areToolsRunning(c) || known.some(isSame(permission)) ? null : "no permission";
};

const REASONS = {
  configure, message, fork, rewind, merge, close, retry, resume, revoke,
  inject_context: content,
  resolve_conflict: resolveConflict,
  confirm_merge: (c) => {
    if (c.merge === null || unresolved(c.merge).length) return "conflicts wait";
    return (c.merge.proposal?.phase ?? "ready") === "ready" ? null : "no proposal";
  },
  propose: (c, e) => {
    if (!c.merge?.proposal) return "no proposal wanted";
    if (e.text != null) return typeof e.text === "string" && e.text.trim() ? null : "no text";
    return ["wanted", "asked"].includes(c.merge.proposal.phase) || c.config.model === null ? "not now" : null;
  },
  switch: (c, e) => (isIn(e.branch, c.closed) ? (isFull(c) ? "too many branches" : null) : isIn(e.branch, c.branches) ? null : "no branch"),
  pin: (c, e) => (isIn(e.message, c.messages) ? null : "no message"),
  tool_results: toolResults,
  raise_limit: raiseLimit, ANSWER: answer,
  use_model: (c, e) => configure(c, e) ?? (Object.keys(givenSettings(e)).every((key) => key === "model") ? null : "not a model"),
  flush: ending,
  crystallize: (c, e) =>
    (e.trigger != null && !["close", "inactivity", "overflow", "goal"].includes(e.trigger) ? "no trigger" : ending(c)),
};

module.exports = { areToolsRunning, isBusy, otherBranches, refusal: (c, e) => REASONS[e.type]?.(c, e) ?? null };
