// Twins of chat/machine/merging.py: what each branch has that the other has not, and the path that has both.
const { compactJson, isObject } = require("../python.cjs");
const { appended, callsOf, closing, counting, headOf, meetingPoint, path, pick, textOf, turnsOf, withBranch, withMessage } = require("./tree.cjs");
const { words } = require("./windows.cjs");

const sides = (c, merge) => {
  const ours = path(c.messages, headOf(c, merge.target), merge.base);
  const ids = new Set(ours.map((message) => message.id));
  const theirs = turnsOf(path(c.messages, headOf(c, merge.source), merge.theirBase));
  return [turnsOf(ours), theirs.filter((turn) => !turn.every((message) => ids.has(message.copiedFrom)))];
};
const basesOf = (messages, ours, theirs) => {
  const base = meetingPoint(messages, ours, theirs);
  const ids = new Set(path(messages, theirs, base).map((message) => message.id));
  const last = path(messages, ours, base).reverse().find((message) => ids.has(message.mergedFrom));
  return last ? { base: last.id, theirBase: last.mergedFrom } : { base, theirBase: base };
};
const pairs = (ours, theirs) =>
  Array.from({ length: Math.max(ours.length, theirs.length) }, (_, place) => [ours[place] ?? null, theirs[place] ?? null]);
const conflict = (number, item, ours, theirs) =>
  ({ id: `x${number}`, item, ours: ours ? ours[0].id : null, theirs: theirs ? theirs[0].id : null, pick: null });
const pathIn = (text) => {
  try {
    const value = JSON.parse(text || "{}");
    return isObject(value) && typeof value.path === "string" ? value.path : null;
  } catch { return null; }
};
const itemsOf = (turn) => {
  const found = new Map();
  const content = compactJson(turn.map((message) => [message.role, message.parts]));
  for (const message of turn) {
    const question = words(textOf(message.parts).toLowerCase()).join(" ");
    if (message.role === "user" && question) found.set(`question: ${question}`, content);
    if ("key" in message) found.set(`context: ${message.key}`, textOf(message.parts));
    for (const call of callsOf(message.parts)) {
      const touched = pathIn(call.arguments);
      if (touched !== null) found.set(`file: ${touched}`, call.name + call.arguments);
    }
  }
  return found;
};
const disagreements = (ours, theirs) => {
  const touched = new Map();
  for (const turn of ours) for (const item of itemsOf(turn).keys()) touched.set(item, turn);
  const found = [];
  for (const turn of theirs)
    for (const [item, content] of itemsOf(turn)) {
      const other = touched.get(item);
      if (!other || itemsOf(other).get(item) === content) continue;
      const next = conflict(found.length + 1, item, other, turn);
      const known = found.find((one) => one.ours === next.ours && one.theirs === next.theirs);
      if (known) known.item = `${known.item}; ${item}`;
      else found.push(next);
    }
  return found;
};
const planned = (c, source, strategy) => {
  const merge = { source, target: c.branch, ...basesOf(c.messages, headOf(c), headOf(c, source)), strategy, conflicts: [], turns: null };
  if (strategy === "consensus") return merge;
  const [one, other] = sides(c, merge);
  const choices = () => pairs(one, other).map(([left, right], place) => conflict(place + 1, `turn ${place + 1}`, left, right));
  return { ...merge, conflicts: strategy === "manual" ? choices() : disagreements(one, other) };
};
const unresolved = (merge) => (merge.turns !== null ? [] : merge.conflicts.filter((one) => one.pick === null));
const resolved = (merge, id, pick) => {
  const wanted = id || unresolved(merge)[0]?.id;
  return { ...merge, conflicts: merge.conflicts.map((one) => (one.id === wanted ? { ...one, pick } : one)) };
};
const ordered = (c, merge) => {
  const [one, other] = sides(c, merge);
  if (merge.turns !== null) return merge.turns.map((id) => [...one, ...other].find((turn) => turn[0].id === id));
  const dropped = new Set();
  for (const { pick, ours: left, theirs: right } of merge.conflicts) {
    if (pick === "theirs" || pick === "neither") dropped.add(left);
    if (pick === "ours" || pick === "neither") dropped.add(right);
  }
  const sequence = merge.strategy === "sequential" ? [...one, ...other] : pairs(one, other).flat().filter(Boolean);
  return sequence.filter((turn) => !dropped.has(turn[0].id));
};
const joint = (c, { proposal, ...merge }, at) => ({
  role: "assistant", parts: [{ type: "text", text: proposal.text }], at, ...pick(proposal, ["source", "usage", "costUsd"]),
  mergedFrom: headOf(c, merge.source), derivedFrom: sides(c, merge).flat(2).map((message) => message.id),
});
const merged = (c, e) => {
  const { source, target, base } = c.merge;
  if (c.merge.proposal) {
    const next = appended(c, target, joint(c, c.merge, e.at));
    return closing(counting({ ...next, merge: null }, { merges: 1 }), source, target);
  }
  const theirs = headOf(c, source);
  const sequence = ordered(c, c.merge).flat();
  let head = base;
  sequence.forEach((message, place) => {
    if (message.parent === head) {
      head = message.id;
      return;
    }
    const copy = { ...message, id: null, copiedFrom: message.id };
    if (place === sequence.length - 1) copy.mergedFrom = theirs;
    c = withMessage(c, target, copy, head);
    head = headOf(c, target);
  });
  return closing(counting({ ...withBranch(c, target, { head }), merge: null }, { merges: 1 }), source, target);
};

module.exports = { merged, planned, resolved, sides, unresolved };
