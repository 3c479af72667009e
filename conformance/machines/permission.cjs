// The permission machine for XState: the chart as it is, and the functions of machines/permission*.py under its names.
const { assign, enqueueActions, setup } = require("xstate");
const { given, isObject, repr, spacedJson } = require("./python.cjs");

const STRICTEST_FIRST = ["deny", "ask", "allow"];
const SOURCES = ["blocked", "breaker", "plan", "override", "auto-allow", "mode"];
const SILENT = { plan: ["read"], ask: ["read"], "auto-edit": ["read", "edit"], auto: ["read", "edit", "command"] };
const TRANSPARENCY = { read: "silent", write: "acknowledged", destructive: "approved" };

const parsed = (value) => {
  if (typeof value !== "string") return value;
  try { return JSON.parse(value); } catch { return value; }
};
const callText = (call) => {
  let shown = parsed(call.arguments);
  if (isObject(shown)) {
    const { command } = shown;
    const rest = Object.fromEntries(Object.entries(shown).filter(([key, value]) => key !== "command" || typeof value !== "string"));
    const words = typeof command === "string" ? [command] : [];
    shown = [...words, ...(Object.keys(rest).length ? [spacedJson(rest)] : [])].join(" ");
  }
  return `${call.name}(${typeof shown === "string" ? shown : spacedJson(shown)})`;
};
const hasCommand = (value) => !isObject(parsed(value)) || typeof parsed(value).command === "string";
const matches = (pattern, name, text, careful = false) => {
  const anything = careful ? "[^;&|<>$`()\\n\\r]*" : "[^]*";
  const plain = (piece) => (piece === "\\*" || piece === "\\\\" ? piece.slice(1) : piece);
  const pieces = pattern.match(/\\[^]|\*|[^*\\]+|\\$/g) ?? [];
  const source = pieces.map((piece) => (piece === "*" ? anything : plain(piece).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))).join("");
  return new RegExp(`^(?:${source})$`).test(pattern.includes("(") ? text : name);
};
const overrideOf = (name, text, rules) => {
  for (const { pattern, decision } of [...(rules.overrides ?? [])].reverse()) {
    const allows = decision === "allow";
    if (matches(pattern, name, text, allows)) return allows ? "allow" : "deny";
  }
  return null;
};
const judge = (name, text, deed, mode, rules) => {
  const blocked = (rules.blocked ?? []).find((pattern) => matches(pattern, name, text));
  if (blocked !== undefined) return { decision: "deny", by: "blocked", reason: `${text} is blocked by ${repr(blocked)}` };
  if ((rules.tripped ?? []).includes(name))
    return { decision: "deny", by: "breaker", reason: `${name} failed too often; it rests for a minute` };
  if (mode === "plan" && deed !== "read") return { decision: "deny", by: "plan", reason: "plan mode" };
  const override = overrideOf(name, text, rules);
  if (override === "deny") return { decision: "deny", by: "override", reason: `${text} was denied for this thread` };
  if (deed === "destructive") return { decision: "ask", by: "mode", reason: `${text} may destroy something` };
  if (override === "allow") return { decision: "allow", by: "override", reason: `${text} was allowed for this thread` };
  if ((rules.autoAllow ?? []).some((pattern) => matches(pattern, name, text, true)))
    return { decision: "allow", by: "auto-allow", reason: `${text} is always allowed` };
  if ((SILENT[mode] ?? []).includes(deed)) return { decision: "allow", by: "mode", reason: `${mode} mode` };
  return { decision: "ask", by: "mode", reason: `${text} changes something` };
};
const judged = (call, mode, rules) => {
  const risk = call.risk in TRANSPARENCY ? call.risk : "destructive";
  const deed = risk !== "write" ? risk : hasCommand(call.arguments) ? "command" : "edit";
  const text = callText(call);
  return { id: call.id, name: call.name, arguments: call.arguments, risk, text, ...judge(call.name, text, deed, mode, rules) };
};
const decide = (calls, mode, rules) => {
  if (!calls.length) return { decision: "deny", by: "blocked", reason: "no call was named", calls: [] };
  const all = calls.map((call) => judged(call, mode, rules));
  const rank = (call) => STRICTEST_FIRST.indexOf(call.decision) * 10 + SOURCES.indexOf(call.by);
  const { decision, by, reason } = all.reduce((first, call) => (rank(call) < rank(first) ? call : first));
  return { decision, by, reason, calls: all };
};
const quoted = (text) => text.replaceAll("\\", "\\\\").replaceAll("*", "\\*");

exports.lastingOverrides = (calls) =>
  calls.filter((call) => call.risk !== "destructive").map((call) => ({
    pattern: quoted(hasCommand(call.arguments) ? call.text : call.name), decision: "allow",
  }));

const outcome = ({ context: { id, verdict, decision, scope, reason } }) => {
  const asked = verdict.decision === "ask";
  const shown = (call) => (decision !== "allowed" ? "refused" : asked ? "approved" : TRANSPARENCY[call.risk]);
  return {
    id, decision, scope, by: !asked ? verdict.by : decision === "expired" ? "nobody" : "person",
    reason: asked ? reason : verdict.reason, calls: verdict.calls.map((call) => ({ ...call, shown: shown(call) })),
  };
};
const giveReason = assign(({ event }, params) => ({ reason: event.reason || params.reason }));
const actions = {
  askParent: enqueueActions(({ context: { id, verdict, timeoutMs, reportsToParent }, enqueue }) => {
    if (reportsToParent)
      enqueue.sendTo(({ self }) => self._parent, { type: "PERMISSION.REQUESTED", id, calls: verdict.calls, timeoutMs });
  }),
  allow: assign(({ event }) => ({ scope: event.scope || "once", reason: "a person allowed it" })),
  deny: giveReason,
  expire: giveReason,
  conclude: assign((_, params) => ({ decision: params.decision })),
};
const guards = {
  isDecided: ({ context }, params) => context.verdict.decision === params.decision && context.verdict.by === params.by,
  isAnswer: ({ context, event }) =>
    (event.id == null || event.id === context.id) && (event.scope == null || ["once", "thread"].includes(event.scope)),
};

exports.permissionMachine = (chart) =>
  setup({ actions, guards, delays: { timeout: ({ context }) => context.timeoutMs } }).createMachine({
    ...chart,
    context: ({ input }) => {
      const known = given(chart, input);
      return { ...known, verdict: decide(known.calls, known.mode, known.rules) };
    },
    output: outcome,
  });
