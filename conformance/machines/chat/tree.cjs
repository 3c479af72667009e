// Twins of threads/machine/content.py, chat/machine/tree.py and chat/machine/repair.py: what is in messages, and the tree they stand in.
const { createHash } = require("crypto");
const { compactJson } = require("../python.cjs");

const CARRIED = ["at", "tags", "key", "source", "usage", "costUsd", "interrupted", "copiedFrom", "mergedFrom", "derivedFrom", "branch"];
const pick = (from, keys) => Object.fromEntries(keys.filter((key) => from[key] != null).map((key) => [key, from[key]]));

const partsOf = (e) => (e.parts != null ? e.parts : e.text ? [{ type: "text", text: e.text }] : []);
const textOf = (parts) => parts.filter((part) => part.type === "text").map((part) => part.text).join("");
const callsOf = (parts) => parts.filter((part) => part.type === "toolCall");
const tokensOfText = (text) => Math.ceil(Buffer.byteLength(text) / 4);
const tokensOfPart = (part) => {
  if (part.type === "text" || part.type === "thinking") return tokensOfText(part.text);
  if (part.type === "toolCall") return tokensOfText(part.name + part.arguments);
  return part.type === "toolResult" ? part.parts.reduce((sum, shown) => sum + tokensOfPart(shown), 0) : 1200;
};
const tokensOf = (parts) => 4 + parts.reduce((sum, part) => sum + tokensOfPart(part), 0);
const chained = (before, role, parts, interrupted) =>
  createHash("sha256").update(compactJson([before, role, parts, interrupted])).digest("hex").slice(0, 16);

// From a head back to the beginning.
const walk = (messages, head) => {
  const found = [];
  for (; head !== null; head = messages[head].parent) found.push(messages[head]);
  return found;
};
const path = (messages, head, after = null) => {
  const back = walk(messages, head);
  const end = back.findIndex((message) => message.id === after);
  return (end < 0 ? back : back.slice(0, end)).reverse();
};
const turnsOf = (messages) => {
  const turns = [];
  for (const message of messages) {
    if (!turns.length || turns.at(-1)[0].turn !== message.turn) turns.push([]);
    turns.at(-1).push(message);
  }
  return turns;
};
const turnAt = (messages, head) => (head === null ? 0 : messages[head].turn);
const tokensAt = (messages, head) => (head === null ? 0 : messages[head].tokens);
const hashAt = (messages, head) => (head === null ? "0".repeat(16) : messages[head].hash);
const sizeOf = (messages, message) => message.tokens - tokensAt(messages, message.parent);
const endOfTurn = (messages, head, turn) => walk(messages, head).find((message) => message.turn <= turn)?.id ?? null;
const isOnPath = (messages, ancestor, head) => walk(messages, head).some((message) => message.id === ancestor);
const meetingPoint = (messages, one, other) => {
  const ancestors = new Set(walk(messages, one).map((message) => message.id));
  return walk(messages, other).find((message) => ancestors.has(message.id))?.id ?? null;
};
const headOf = (c, branch) => c.branches[branch ?? c.branch].head;
const lastQuestion = (c) => walk(c.messages, headOf(c)).find((message) => message.role === "user")?.id ?? null;
const withBranch = (c, name, changes) => ({ ...c, branches: { ...c.branches, [name]: { ...c.branches[name], ...changes } } });
const closing = (c, name, mergedInto) => {
  const { [name]: branch, ...branches } = c.branches;
  return { ...c, branches, closed: { ...c.closed, [name]: { ...branch, mergedInto } } };
};
const reopened = (c, name) => {
  const { [name]: branch, ...closed } = c.closed;
  return { ...c, closed, branches: { ...c.branches, [name]: { ...branch, mergedInto: null } } };
};
const branchOf = (c, id) => (id === null ? c.branch : c.messages[id].branch ?? c.branch);
const storedMessage = (c, draft, parent) => {
  let [id, count] = [draft.id, c.nextMessage];
  if (id == null) {
    while (`m${count}` in c.messages) count += 1;
    id = `m${count}`;
    count += 1;
  }
  const { role, parts } = draft;
  const stored = {
    id, parent, role, parts, hash: chained(hashAt(c.messages, parent), role, parts, Boolean(draft.interrupted)),
    turn: turnAt(c.messages, parent) + (role === "user" ? 1 : 0), tokens: tokensAt(c.messages, parent) + tokensOf(parts),
    ...pick(draft, CARRIED),
  };
  return [stored, count];
};
const counting = (c, more) => ({
  ...c, metrics: { ...c.metrics, ...Object.fromEntries(Object.entries(more).map(([key, by]) => [key, c.metrics[key] + by])) },
});
const withMessage = (c, branch, draft, parent) => {
  const [stored, nextMessage] = storedMessage(c, { ...draft, branch }, parent);
  const grown = { ...c, messages: { ...c.messages, [stored.id]: stored }, nextMessage };
  const counted = "copiedFrom" in stored ? grown : counting(grown, { messages: 1, turns: stored.role === "user" ? 1 : 0 });
  return withBranch(counted, branch, { head: stored.id });
};
const appended = (c, branch, draft) => withMessage(c, branch, draft, headOf(c, branch));

const cancelled = (ids) => (!ids.length ? [] : [{
  role: "tool",
  parts: ids.map((callId) => ({ type: "toolResult", callId, parts: [{ type: "text", text: "cancelled" }], isError: true })),
}]);
const mended = (messages) => {
  const found = [];
  let open = [];
  for (const message of messages) {
    if (message.role === "tool") {
      const parts = message.parts.filter((part) => open.includes(part.callId));
      open = open.filter((id) => !parts.some((part) => part.callId === id));
      if (parts.length) found.push(parts.length === message.parts.length ? message : { ...message, parts });
      continue;
    }
    if (message.role !== "system") {
      found.push(...cancelled(open));
      open = message.role === "assistant" ? callsOf(message.parts).map((call) => call.id) : [];
    }
    found.push(message);
  }
  return [...found, ...cancelled(open)];
};

module.exports = {
  appended, branchOf, callsOf, closing, counting, endOfTurn, hashAt, headOf, isOnPath, lastQuestion, meetingPoint, mended, partsOf, path,
  pick, reopened, sizeOf, storedMessage, textOf, tokensOf, tokensOfText, turnAt, turnsOf, walk, withBranch, withMessage,
};
