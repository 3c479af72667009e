// Twins of chat/machine/limits.py: what a message and a thread may spend, and what happens at the limit.
const LIMITS = {
  maxToolRounds: ["message", "toolRounds"], maxThreadToolRounds: ["thread", "toolRounds"],
  maxCostUsd: ["message", "costUsd"], maxThreadCostUsd: ["thread", "costUsd"],
  maxWallMs: ["message", "wallMs"], maxThreadWallMs: ["thread", "wallMs"],
};
const NAMES = Object.keys(LIMITS);
const SCOPES = ["message", "thread"];
const newSpent = () => ({ toolRounds: 0, costUsd: 0, wallMs: 0 });
const newBudget = () => ({ message: newSpent(), thread: newSpent(), raised: {}, warned: [], asked: 0, since: null, timer: null });
const withBudget = (c, changes) => ({ ...c, budget: { ...c.budget, ...changes } });
const on = (resource) => NAMES.filter((name) => LIMITS[name][1] === resource);

const limitOf = (c, name) => c.budget.raised[name] ?? c.config[name];
const spentOf = (c, name) => c.budget[LIMITS[name][0]][LIMITS[name][1]];
const isReached = (c, name) => limitOf(c, name) !== null && spentOf(c, name) >= limitOf(c, name);
const reached = (c) => {
  if (c.reply === null || c.reply.waiting) return null;
  const { phase, called } = c.reply;
  const names = phase === "tools" ? (called ? [] : on("toolRounds")) : phase === "wanted" ? [...on("costUsd"), ...on("wallMs")] : [];
  return names.find((name) => isReached(c, name)) ?? null;
};
const reachedSpending = (c) => [...on("costUsd"), ...on("wallMs")].find((name) => isReached(c, name)) ?? null;
const left = (c) => ({ ...c, reply: { ...c.reply, limit: null, waiting: false, request: null } });
const nextLimit = (c, name) => {
  const [step, spent] = [c.config[name], spentOf(c, name)];
  return step ? step * (Math.floor(spent / step) + 1) : spent + 1;
};
const raised = (c, name, limit) => withBudget(c, {
  raised: { ...c.budget.raised, [name]: limit ?? nextLimit(c, name) }, warned: c.budget.warned.filter((other) => other !== name),
});
const unraised = (c, names) => withBudget(c, {
  raised: Object.fromEntries(Object.entries(c.budget.raised).filter(([name]) => !names.includes(name))),
  warned: c.budget.warned.filter((name) => !names.includes(name)),
});
const messageBegun = (c, at) =>
  withBudget(unraised(c, NAMES.filter((name) => LIMITS[name][0] === "message")), { message: newSpent(), since: at ?? null });
const continued = (c, at) => withBudget(c, { since: at ?? null });
const spending = (c, resource, amount) => withBudget(c, Object.fromEntries(
  SCOPES.map((scope) => [scope, { ...c.budget[scope], [resource]: c.budget[scope][resource] + amount }])));
const timed = (c, at, duration) => {
  const { since } = c.budget;
  if (at == null) {
    const counted = spending(c, "wallMs", duration);
    return since === null ? counted : continued(counted, Math.trunc(since + duration));
  }
  return continued(spending(c, "wallMs", since === null ? 0 : Math.max(0, at - since)), at);
};
const unwarned = (c) => NAMES.find((name) => {
  const limit = limitOf(c, name);
  return !c.budget.warned.includes(name) && limit !== null && c.config.warnAt * limit <= spentOf(c, name) && spentOf(c, name) < limit;
});
const described = (c, name) => {
  const [scope, resource] = LIMITS[name];
  const unit = { toolRounds: "tool rounds", costUsd: "USD", wallMs: "ms" }[resource];
  return `the limit of ${limitOf(c, name)} ${unit} for this ${scope} is reached (${name})`;
};
const remaining = (c, resource) => {
  const left = on(resource).filter((name) => limitOf(c, name) !== null).map((name) => limitOf(c, name) - spentOf(c, name));
  return left.length ? Math.min(...left) : null;
};
const isWorking = (c) => c.reply !== null && !c.reply.waiting;
const limitFacts = (c, name) => ({ limit: name, value: limitOf(c, name), spent: spentOf(c, name) });
const waiting = (c) => {
  const name = reached(c);
  const asked = c.budget.asked + 1;
  const limit = { ...limitFacts(c, name), next: nextLimit(c, name) };
  const request = { id: `limit-${asked}`, address: "", reason: "limit", question: described(c, name), limit };
  return withBudget({ ...c, reply: { ...c.reply, limit: name, waiting: true, request } }, { asked });
};

module.exports = {
  LIMITS, continued, described, isReached, messageBegun, newBudget, raised, reachedSpending, remaining, spending, spentOf, timed, unraised,
  isCostReached: (c) => on("costUsd").some((name) => isReached(c, name)),
  reachedFacts: ({ reply: { request } }) => ({ id: request.id, address: request.address, ...request.limit }),
  warningFacts: (c) => limitFacts(c, c.budget.warned.at(-1)),
  left,
  actions: {
    waitAtLimit: waiting,
    leaveLimit: left,
    noteWarning: (c) => withBudget(c, { warned: [...c.budget.warned, unwarned(c)] }),
    noteWallTime: (c) => withBudget(c, {
      ...Object.fromEntries(SCOPES.map((scope) => {
        const wallMs = Math.max(c.budget[scope].wallMs, c.budget.timer[scope]);
        return [scope, { ...c.budget[scope], wallMs }];
      })),
      since: null, timer: null,
    }),
  },
  effects: {
    armWallTime: (c, e, enqueue) => {
      const delay = remaining(c, "wallMs");
      const timer = Object.fromEntries(SCOPES.map((scope) => [scope, c.budget[scope].wallMs + delay]));
      enqueue.assign({ budget: { ...c.budget, timer } });
      enqueue.raise({ type: "wall_time" }, { delay, id: "wallTime" });
    },
    disarmWallTime: (c, e, enqueue) => {
      enqueue.assign({ budget: { ...c.budget, timer: null } });
      enqueue.cancel("wallTime");
    },
    cutAtLimit: (c, e, enqueue) => {
      const limit = on("wallMs").find((name) => isReached(c, name));
      if (c.reply?.phase !== "replying" || c.reply.cut !== null || limit === undefined) return;
      enqueue.assign({ reply: { ...c.reply, cut: "keep", limit } });
      enqueue.sendTo("reply", { type: "CANCEL", requestId: c.reply.requestId });
    },
  },
  guards: {
    isAtLimit: (c) => reached(c) !== null,
    isLimitRaised: (c) => Boolean(c.reply?.waiting && c.reply.limit != null) && !isReached(c, c.reply.limit),
    mustWarn: (c) => unwarned(c) !== undefined,
    mustArmWallTime: (c) => isWorking(c) && c.budget.timer === null && remaining(c, "wallMs") > 0,
    mustDisarmWallTime: (c) => c.budget.timer !== null && !isWorking(c),
    isTimed: (c) => c.budget.timer !== null,
  },
};
