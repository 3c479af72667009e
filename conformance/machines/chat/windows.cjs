// Twins of chat/machine/windows.py: what of a branch a model is asked with.
const {
  counting, isOnPath, mended, sizeOf, storedMessage, textOf, tokensOf, tokensOfText, turnsOf, walk, withBranch,
} = require("./tree.cjs");

const room = (c) => Math.trunc(c.config.contextLimit * 0.1);
const recentOf = (messages, branch) => {
  const back = walk(messages, branch.head);
  const place = branch.window ? back.findIndex((message) => message.id === branch.window.cut) : -1;
  return [(place < 0 ? back : back.slice(0, place)).reverse(), place >= 0];
};
const view = (c, name) => {
  const { window } = c.branches[name];
  const [recent, isCut] = recentOf(c.messages, c.branches[name]);
  const kept = window && isCut ? window.kept.map((id) => c.messages[id]) : [];
  const summary = window && isCut && window.summary ? c.messages[window.summary] : null;
  const shown = [...kept, ...(summary ? [summary] : []), ...recent];
  const system = c.config.system ? tokensOf([{ type: "text", text: c.config.system }]) : 0;
  return { kept, summary, recent, tokens: shown.reduce((sum, message) => sum + sizeOf(c.messages, message), 0) + system };
};
const utilisation = (c, branch) => view(c, branch).tokens / c.config.contextLimit;
const has = (message, tag) => (message.tags ?? []).includes(tag);
const isKept = (c, message) => c.pinned.includes(message.id) || has(message, "REQUIRED");
const goalOf = (c, branch, tokens) => {
  const { strategy, contextLimit: limit, compressAt, resumeAt } = c.config;
  const { window } = c.branches[branch];
  if (strategy === "none") return null;
  if (strategy === "sliding") return tokens > limit ? limit : null;
  const isArmed = window === null || window.armed;
  return tokens > limit || (isArmed && tokens >= limit * compressAt) ? limit * resumeAt : null;
};
const moved = (c, shown, goal) => {
  let { tokens } = shown;
  let kept = shown.kept.map((message) => message.id);
  const leftOut = [];
  let cut = null;
  for (const turn of turnsOf(shown.recent).slice(0, -1)) {
    if (tokens <= goal) break;
    for (const message of turn) {
      if (isKept(c, message) || has(message, "PRESERVED")) kept.push(message.id);
      else {
        leftOut.push(message.id);
        tokens -= sizeOf(c.messages, message);
      }
    }
    cut = turn.at(-1).id;
  }
  for (const id of [...kept]) {
    if (tokens <= goal) break;
    if (isKept(c, c.messages[id])) continue;
    kept = kept.filter((known) => known !== id);
    leftOut.push(id);
    tokens -= sizeOf(c.messages, c.messages[id]);
  }
  const last = cut ?? (shown.recent.length ? shown.recent[0].parent : null);
  return leftOut.length && last ? { cut: last, kept, leftOut, tokens } : null;
};
const shift = (c, branch) => {
  const shown = view(c, branch);
  let goal = goalOf(c, branch, shown.tokens);
  if (goal === null) return null;
  if (c.config.strategy === "summarise") goal -= c.config.contextLimit * 0.1 - (shown.summary ? sizeOf(c.messages, shown.summary) : 0);
  return moved(c, shown, goal);
};
const rearmed = (c, branch) => {
  const { window } = c.branches[branch];
  if (window === null || window.armed || utilisation(c, branch) > c.config.resumeAt) return c;
  return withBranch(c, branch, { window: { ...window, armed: true } });
};
const shifted = (c, branch, found, summary = null) => {
  let { tokens } = found;
  let id = null;
  if (summary !== null) {
    const old = view(c, branch).summary;
    const bytes = Buffer.from(summary).subarray(0, room(c) * 4);
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes, { stream: true });
    const draft = { role: "system", parts: [{ type: "text", text }], derivedFrom: [...(old ? [old.id] : []), ...found.leftOut] };
    const [stored, nextMessage] = storedMessage(c, draft, null);
    tokens += stored.tokens - (old ? sizeOf(c.messages, old) : 0);
    id = stored.id;
    c = { ...c, messages: { ...c.messages, [id]: stored }, nextMessage };
  }
  const window = { cut: found.cut, kept: found.kept, summary: id, armed: tokens <= c.config.contextLimit * c.config.resumeAt };
  return withBranch(counting(c, { compressions: 1 }), branch, { window });
};
const words = (text) => text.split(/\s+/).filter(Boolean);
const lineOf = (message) => `${message.role}: ${[...words(textOf(message.parts)).join(" ")].slice(0, 200).join("")}`;
const digest = (c, branch, found) => {
  const old = view(c, branch).summary;
  const lines = [...(old ? textOf(old.parts).split("\n").slice(1) : []), ...found.leftOut.map((id) => lineOf(c.messages[id]))];
  const chosen = [];
  let left = room(c);
  for (const line of lines.reverse()) {
    left -= tokensOfText(line) + 1;
    if (left < 0) break;
    chosen.push(line);
  }
  return ["Earlier in this conversation:", ...chosen.reverse()].join("\n");
};
const pinning = (c, id, pinned) => {
  const others = c.pinned.filter((known) => known !== id);
  let changed = { ...c, pinned: pinned ? [...others, id] : others };
  for (const [name, { window }] of Object.entries(c.branches)) {
    if (window === null || !isOnPath(c.messages, id, window.cut)) continue;
    let kept = window.kept.filter((known) => known !== id);
    if (isKept(changed, c.messages[id])) kept = [...kept, id].sort((one, other) => c.messages[one].tokens - c.messages[other].tokens);
    changed = withBranch(changed, name, { window: { ...window, kept } });
  }
  return changed;
};
const asked = (c, branch) => {
  const { kept, summary, recent } = view(c, branch);
  const sent = mended([...kept, ...(summary ? [summary] : []), ...recent].map(({ role, parts, source }) =>
    ({ role, parts, ...(source === undefined ? {} : { source }) })));
  if (!c.config.system) return sent;
  const system = { role: "system", parts: [{ type: "text", text: c.config.system }] };
  const place = c.config.systemPlacement === "prepend" ? 0 : Math.max(0, sent.findLastIndex((message) => message.role === "user"));
  return [...sent.slice(0, place), system, ...sent.slice(place)];
};

module.exports = { asked, digest, lineOf, pinning, rearmed, shift, shifted, utilisation, view, words };
