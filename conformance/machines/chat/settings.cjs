// Twins of chat/machine/settings.py and context.py: the settings of a chat, and the context they begin with.
const { isObject } = require("../python.cjs");
const { newBudget } = require("./limits.cjs");

const DEFAULTS = {
  model: null, system: null, systemPlacement: "prepend", settings: {}, strategy: "sliding", summaries: "model",
  contextLimit: 128000, compressAt: 0.8, resumeAt: 0.7, onBusy: "reject", onStop: "finish", maxBranches: 3, maxTurns: null,
  maxQueue: 100, turnTimeoutMs: null, maxToolRounds: 25, maxThreadToolRounds: null, maxCostUsd: null, maxThreadCostUsd: null,
  maxWallMs: null, maxThreadWallMs: null, warnAt: 0.8, autoStart: false, consent: null, clientTools: false,
};
const oneOf = (...known) => (value) => known.includes(value);
const atLeast = (least, optional = false) => (value) => (optional && value === null) || (Number.isInteger(value) && value >= least);
const isText = (value) => typeof value === "string";
const all = (fits) => (value) => Array.isArray(value) && value.every(fits);
const amount = (value) => value === null || (typeof value === "number" && value > 0);
const share = (value) => typeof value === "number" && value > 0 && value <= 1;
const CONSENT = {
  mode: oneOf("plan", "ask", "auto-edit", "auto"), blocked: all(isText), tripped: all(isText), autoAllow: all(isText),
  overrides: all((one) => isObject(one) && isText(one.pattern) && ["allow", "deny"].includes(one.decision)), timeoutMs: atLeast(1),
};
const RULES = {
  model: (value) => value === null || isText(value), system: (value) => value === null || isText(value),
  systemPlacement: oneOf("prepend", "inject"), settings: isObject, strategy: oneOf("none", "sliding", "summarise", "forget"),
  summaries: oneOf("model", "plain"), contextLimit: atLeast(1), compressAt: share, resumeAt: share,
  onBusy: oneOf("reject", "queue", "interrupt", "merge"), onStop: oneOf("finish", "cut"), maxBranches: atLeast(1),
  maxTurns: atLeast(0, true), maxQueue: atLeast(0), turnTimeoutMs: atLeast(1, true), autoStart: (value) => typeof value === "boolean",
  clientTools: (value) => typeof value === "boolean",
  maxToolRounds: atLeast(0, true), maxThreadToolRounds: atLeast(0, true), maxCostUsd: amount, maxThreadCostUsd: amount,
  maxWallMs: atLeast(1, true), maxThreadWallMs: atLeast(1, true), warnAt: share,
  consent: (value) => value === null
    || (isObject(value) && Object.entries(CONSENT).every(([key, fits]) => !(key in value) || fits(value[key]))),
};
const METRICS = [
  "turns", "messages", "replies", "failures", "cancelled", "forks", "merges", "rewinds", "compressions", "inputTokens",
  "outputTokens", "costUsd", "unpriced", "durationMs", "slowestMs",
];

const newBranch = (name, head = null, parent = null, window = null) =>
  ({ name, head, parent, forkPoint: head, mergedInto: null, window });
const emptied = (config, reportsToParent, nextMessage, nextRequest) => ({
  config, reportsToParent, messages: {}, branches: { main: newBranch("main") }, closed: {}, branch: "main", checkpoints: {},
  pinned: [], fork: null, merge: null, reply: null, queue: [], overrides: [], run: null, lastError: null, crystallizing: null,
  crystal: null, metrics: Object.fromEntries(METRICS.map((key) => [key, 0])), budget: newBudget(), nextMessage, nextRequest,
});
const givenSettings = ({ type, config, at, ...alone }) => ({ ...alone, ...(config ?? {}) });
const initialContext = (input) => {
  const given = { ...input, ...(input.config ?? {}) };
  const found = Object.fromEntries(Object.entries(given).filter(([key]) => key in DEFAULTS));
  const reports = Boolean(input.reportsToParent);
  return emptied({ ...DEFAULTS, autoStart: reports, ...found }, reports, 1, 1);
};

module.exports = {
  emptied, givenSettings, initialContext, newBranch,
  areSettings: (settings) => Object.entries(settings).every(([key, value]) => key in RULES && RULES[key](value)),
};
