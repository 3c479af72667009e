// Twins of chat/machine/consensus.py and proposals.py: the message that joins both sides of a merge.
const limits = require("./limits.cjs");
const { sides } = require("./merging.cjs");
const { mended, path, sizeOf, turnsOf } = require("./tree.cjs");

const needsProposal = (c) => c.merge.strategy === "consensus" && sides(c, c.merge).every((turns) => turns.length);
const proposalRequested = (c) => {
  const phase = c.config.model === null ? "missing" : "wanted";
  const proposal = { requestId: `r${c.nextRequest}`, phase, text: null, source: null, usage: null, costUsd: null, error: null };
  return { ...c, merge: { ...c.merge, proposal }, nextRequest: c.nextRequest + 1 };
};
const changed = (c, changes) => ({ ...c, merge: { ...c.merge, proposal: { ...c.merge.proposal, ...changes } } });
const inPhase = (phase) => (c) => c.merge?.proposal?.phase === phase;
const newest = (messages, turns, room) => {
  const chosen = [];
  for (const turn of [...turns].reverse()) {
    room -= turn.reduce((sum, message) => sum + sizeOf(messages, message), 0);
    if (room < 0 && chosen.length) break;
    chosen.unshift(turn);
  }
  return chosen.flat().map(({ role, parts }) => ({ role, parts }));
};
const proposalInput = (c) => {
  const { merge, messages, config: { contextLimit, model, system } } = c;
  const [ours, theirs] = sides(c, merge).map((turns) => newest(messages, turns, contextLimit * 0.3));
  return {
    requestId: merge.proposal.requestId, model, system, budgetUsd: limits.remaining(c, "costUsd"),
    messages: mended(newest(messages, turnsOf(path(messages, merge.base)), contextLimit * 0.2)),
    branches: [{ name: merge.target, messages: ours }, { name: merge.source, messages: theirs }],
  };
};
const limited = (c) => {
  const error = { code: "limit_reached", message: limits.described(c, limits.reachedSpending(c)), recoverable: true };
  return { ...changed(c, { phase: "missing", error }), lastError: error };
};

module.exports = {
  changed, limited, needsProposal, proposalInput, proposalRequested,
  isProposing: inPhase("asked"),
  mustPropose: inPhase("wanted"),
  isLimited: (c) => inPhase("wanted")(c) && limits.reachedSpending(c) !== null,
  given: (c, e) => changed(c, { phase: "ready", text: e.text, source: null, usage: null, costUsd: null, error: null }),
  cancelled: (c) => changed(c, { phase: "missing" }),
};
