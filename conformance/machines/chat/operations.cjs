// Twins of chat/machine/operations.py: what a person does with a conversation.
const { needsProposal, proposalRequested } = require("./consensus.cjs");
const { crystalOf } = require("./crystal.cjs");
const { LIMITS, continued, messageBegun, spending, unraised } = require("./limits.cjs");
const { merged, planned, resolved } = require("./merging.cjs");
const { otherBranches } = require("./refusals.cjs");
const { emptied, givenSettings, newBranch } = require("./settings.cjs");
const {
  appended, branchOf, closing, counting, endOfTurn, hashAt, headOf, lastQuestion, partsOf, pick, reopened, turnAt, withBranch, withMessage,
} = require("./tree.cjs");
const { pinning } = require("./windows.cjs");

const GIVEN = ["id", "at", "tags", "key", "source", "usage", "costUsd", "interrupted"];
const runBegun = (c, e) => {
  const runId = e.runId ?? null;
  if (!c.reportsToParent || (c.run && [null, c.run.runId].includes(runId))) return c;
  return { ...c, run: { runId, cost: c.metrics.costUsd, duration: 0, outcome: "completed", error: null } };
};
const wantingReply = (c, branch, prefix = null) => ({
  ...c,
  reply: {
    requestId: `r${c.nextRequest}`, branch, parent: headOf(c, branch), phase: "wanted", prefix, cut: null, called: false,
    waiting: false, error: null,
  },
  nextRequest: c.nextRequest + 1,
});
const pinnedIfAsked = (c, e, branch) => (e.pinned && headOf(c, branch) ? pinning(c, headOf(c, branch), true) : c);
const say = (c, e) => {
  const [role, branch] = [e.role || "user", e.branch || c.branch];
  const head = headOf(c, branch);
  const draft = { ...pick(e, GIVEN), role, parts: partsOf(e) };
  const joined = head && e.joins ? c.messages[head] : null;
  if (joined?.role === "user") {
    draft.parts = [...joined.parts, ...draft.parts];
    c = counting(withMessage(c, branch, draft, joined.parent), { turns: -1 });
  } else c = appended(c, branch, draft);
  c = pinnedIfAsked(runBegun(c, e), e, branch);
  if (!["user", "tool"].includes(role) || c.config.model === null) return { ...c, reply: null };
  if (role === "tool") return wantingReply(spending(continued(c, e.at ?? null), "toolRounds", 1), branch, e.resumeNote ?? null);
  return wantingReply(messageBegun(c, e.at), branch, e.resumeNote ?? null);
};
const queued = (c, { type, ...item }) => {
  const joins = c.config.onBusy === "merge" ? { joins: true } : {};
  return { ...c, queue: [...c.queue, { ...item, branch: item.branch || c.branch, ...joins }] };
};
const nextSaid = (c) => {
  const [item, ...queue] = c.queue;
  return say({ ...c, queue }, item.id in c.messages ? { ...item, id: null } : item);
};
const freeName = (c) => {
  let number = Object.keys(c.branches).length + Object.keys(c.closed).length;
  while (`branch-${number}` in c.branches || `branch-${number}` in c.closed) number += 1;
  return `branch-${number}`;
};
const forkPlanned = (c, e) => {
  const forkPoint = e.from ?? (e.turn != null ? endOfTurn(c.messages, headOf(c), e.turn) : headOf(c));
  return { ...c, fork: { name: e.name || freeName(c), parent: branchOf(c, forkPoint), forkPoint } };
};
const forked = (c) => {
  const { name, parent, forkPoint } = c.fork;
  const branches = { ...c.branches, [name]: newBranch(name, forkPoint, parent, c.branches[parent]?.window ?? null) };
  return counting({ ...c, fork: null, branch: name, branches }, { forks: 1 });
};
const rewound = (c, e) => {
  const back = "turns" in e ? e.turns : 1;
  if (e.message == null && e.checkpointId == null && back === 0) return c;
  const head = e.message != null ? e.message : e.checkpointId != null
    ? c.checkpoints[e.checkpointId].head : endOfTurn(c.messages, headOf(c), turnAt(c.messages, headOf(c)) - back);
  return withBranch(counting(c, { rewinds: 1 }), c.branch, { head });
};
const marked = (c, e) => {
  const id = `c${hashAt(c.messages, headOf(c))}`;
  if (id in c.checkpoints) return c;
  const mark = { id, head: headOf(c), branch: c.branch, turn: turnAt(c.messages, headOf(c)), ...pick(e, ["name", "at"]) };
  return { ...c, checkpoints: { ...c.checkpoints, [id]: mark } };
};

module.exports = {
  forkPlanned, forked, marked, nextSaid, queued, rewound, runBegun, say, wantingReply,
  configured: (c, e) => ({ ...c, config: { ...c.config, ...givenSettings(e) } }),
  limitRaised: (c, e) =>
    unraised({ ...(c.reply?.waiting ? continued(c, e.at) : c), config: { ...c.config, ...givenSettings(e) } }, Object.keys(LIMITS).filter((name) => name in givenSettings(e))),
  resumed: (c, e) => wantingReply(continued(runBegun(c, e), e.at), c.branch, e.resumeNote || null),
  retried: (c, e) =>
    wantingReply(messageBegun(withBranch(runBegun(c, e), c.branch, { head: lastQuestion(c) }), e.at), c.branch),
  injected: (c, e) => {
    const tags = e.tags?.length ? e.tags : ["REQUIRED"];
    return pinnedIfAsked(appended(c, c.branch, { ...pick(e, GIVEN), role: "system", parts: partsOf(e), tags }), e, c.branch);
  },
  mergePlanned: (c, e) => {
    const next = { ...c, merge: planned(c, e.source || otherBranches(c)[0], e.strategy || "sequential") };
    return needsProposal(next) ? proposalRequested(next) : next;
  },
  conflictResolved: (c, e) => ({
    ...c, merge: e.turns != null ? { ...c.merge, turns: e.turns } : resolved(c.merge, e.conflict, e.pick || "ours"),
  }),
  mergeDone: merged,
  switched: (c, e) => ({ ...(e.branch in c.branches ? c : reopened(c, e.branch)), branch: e.branch }),
  closed: (c, e) => closing(c, e.branch, null),
  pinned: (c, e) => pinning(c, e.message, e.pinned ?? true),
  flushed: (c) => ({ ...c, queue: [], lastError: null }),
  crystallizedPlainly: (c, e) => ({ ...c, queue: [], lastError: null, crystal: crystalOf(c, {}, e.trigger, "rules") }),
  emptiedAgain: (c) => emptied(c.config, c.reportsToParent, c.nextMessage, c.nextRequest),
};
