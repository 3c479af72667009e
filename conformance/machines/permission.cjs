// The permission machine for XState: the chart as it is, and the functions of machines/permission*.py under its names.
const { assign, enqueueActions, setup } = require("xstate");
const { given, isObject, repr, spacedJson } = require("./python.cjs");

const STRICTEST_FIRST = ["deny", "ask", "allow"];
const SOURCES = ["blocked", "breaker", "plan", "override", "auto-allow", "mode"];
const RISKS = ["read", "write", "destructive"];
const KINDS = ["command", "file", "network", "other"];
const NO_SANDBOX = "this machine has no complete sandbox, as `antiphon doctor` explains";
const WAS = {
  write: "it failed, and the command says that something was denied; the workspace was read-only for it. Allowed, it runs again and may change the workspace",
  protected: "it failed, and the command says that something was denied; protected paths were read-only for it. Allowed, it runs again and may change them too",
};
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
const keyOf = (call) => spacedJson(parsed(call.arguments));
const matches = (pattern, name, text, careful = false) => {
  const anything = careful ? "[^;&|<>$`()\\n\\r]*" : "[^]*";
  const plain = (piece) => (piece === "\\*" || piece === "\\\\" ? piece.slice(1) : piece);
  const pieces = pattern.match(/\\[^]|\*|[^*\\]+|\\$/g) ?? [];
  const source = pieces.map((piece) => (piece === "*" ? anything : plain(piece).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))).join("");
  return new RegExp(`^(?:${source})$`).test(pattern.includes("(") ? text : name);
};
const access = (given = {}) => ({ writes: false, protected: false, network: false, outside: false, ...given });
const READ_ONLY = access();
const assessed = (call) => {
  const facts = call.assessment && Object.keys(call.assessment).length ? call.assessment : { risk: call.risk };
  return {
    ...facts, sandbox: facts.sandbox === true, network: facts.network ?? [], protected: facts.protected ?? [], reason: facts.reason ?? "",
    risk: RISKS.includes(facts.risk) ? facts.risk : "destructive", kind: KINDS.includes(facts.kind) ? facts.kind : "other",
  };
};
const onlyReads = (a) => a.risk === "read" && !a.network.length && !a.protected.length;
const scopesOf = (name, key, a) => {
  if (a.protected.length || a.risk === "destructive") return [];
  if (a.kind === "command") return [{ scope: "command", value: key, label: "this exact command" }];
  if (a.kind === "file" && a.path != null) {
    const folder = a.path.includes("/") ? a.path.slice(0, a.path.lastIndexOf("/")) || "." : ".";
    const label = folder === "." ? "files of the workspace folder itself" : `files in ${folder}/`;
    return [{ scope: "folder", value: folder, label: `${label}, not in its subfolders` }];
  }
  if (a.kind === "network" && a.network.length === 1 && a.network[0] !== "*")
    return [{ scope: "host", value: a.network[0], label: `the host ${a.network[0]}` }];
  return a.kind === "other" ? [{ scope: "tool", value: name, label: `the tool ${name}` }] : [];
};
const covers = (override, name, key, a) => {
  if (override.tool !== name && override.scope !== "folder") return false;
  if (!scopesOf(name, key, a).some((offer) => offer.scope === override.scope && offer.value === override.value)) return false;
  return a.kind !== "command" || ((a.sandbox || !override.sandbox) && (!a.network.length || Boolean(override.network)));
};
const isAutoAllowed = (name, text, a, patterns) =>
  a.risk !== "destructive" && !(a.kind === "command" && (a.network.length || !a.sandbox)) &&
  patterns.some((pattern) => matches(pattern, name, text, true));
const overrideOf = (name, text, key, a, rules) => {
  for (const override of [...(rules.overrides ?? [])].reverse()) {
    const allows = override.decision === "allow";
    if ("scope" in override) {
      if (covers(override, name, key, a)) return allows ? "allow" : "deny";
    } else if (matches(override.pattern, name, text, allows)) {
      return !allows ? "deny" : isAutoAllowed(name, text, a, [override.pattern]) ? "allow" : null;
    }
  }
  return null;
};
const byMode = (mode, a) => {
  if (a.kind === "command") {
    if (!a.sandbox || a.network.length) return null;
    return mode === "auto" ? access({ writes: true }) : a.risk === "read" ? READ_ONLY : null;
  }
  if (onlyReads(a)) return READ_ONLY;
  if (a.risk === "destructive" || a.network.length) return null;
  return (a.kind === "file" ? ["auto-edit", "auto"] : ["auto"]).includes(mode) ? access({ writes: true }) : null;
};
const reasonOf = (call, a, rules) => {
  const plain = a.risk === "destructive" ? "it may destroy something" : a.risk === "write" && a.kind !== "network" ? "it changes something" : "";
  const reasons = [a.reason || plain];
  if (a.protected.length) reasons.push(`it would change protected paths: ${a.protected.join(", ")}`);
  if (a.network.includes("*")) reasons.push("it needs the network");
  else if (a.network.length) reasons.push(`it connects to ${a.network.join(", ")}`);
  if (a.kind === "command" && !a.sandbox) reasons.push(NO_SANDBOX);
  const reason = call.denied !== undefined ? WAS[call.denied === "protected" ? "protected" : "write"] : reasons.filter(Boolean).join("; ");
  return [reason, rules.notice ?? ""].filter(Boolean).join("; ");
};
const judge = (call, text, a, mode, rules) => {
  const { name } = call;
  const isProtected = a.protected.length > 0 || call.denied === "protected";
  const granted = call.denied === undefined && onlyReads(a) ? READ_ONLY
    : access({ writes: true, protected: isProtected, network: a.network.length > 0 });
  const verdict = (decision, by, reason, given) => [{ decision, by, reason }, given];
  const blocked = (rules.blocked ?? []).find((pattern) => matches(pattern, name, text));
  if (blocked !== undefined) return verdict("deny", "blocked", `${text} is blocked by ${repr(blocked)}`, READ_ONLY);
  if ((rules.tripped ?? []).includes(name)) return verdict("deny", "breaker", `${name} failed too often; it rests for a minute`, READ_ONLY);
  if (mode === "plan" && !onlyReads(a)) return verdict("deny", "plan", "plan mode", READ_ONLY);
  const override = overrideOf(name, text, keyOf(call), a, rules);
  if (override === "deny") return verdict("deny", "override", `${text} was denied for this thread`, READ_ONLY);
  if (call.denied === undefined && !a.protected.length) {
    if (override === "allow") return verdict("allow", "override", `${text} was allowed before`, granted);
    if (isAutoAllowed(name, text, a, rules.autoAllow ?? [])) return verdict("allow", "auto-allow", `${text} is always allowed`, granted);
    const given = byMode(mode, a);
    if (given) return verdict("allow", "mode", `${mode} mode`, given);
  }
  return verdict("ask", "mode", reasonOf(call, a, rules), granted);
};
const judged = (call, mode, rules) => {
  const a = assessed(call);
  const text = callText(call);
  const [judgement, given] = judge(call, text, a, mode, rules);
  const shown = Object.fromEntries(["path", "diff", "cut", "undo"].filter((key) => a[key] != null).map((key) => [key, a[key]]));
  return {
    id: call.id, name: call.name, arguments: call.arguments, risk: a.risk, kind: a.kind, text, ...judgement,
    access: ["command", "file"].includes(a.kind) ? given : null,
    scopes: call.denied === "protected" ? [] : scopesOf(call.name, keyOf(call), a),
    outside: a.kind === "command", sandbox: a.sandbox, network: a.network, protected: a.protected, ...shown,
  };
};
const asked = (calls) => calls.filter((call) => call.decision === "ask");
const decide = (calls, mode, rules) => {
  if (!calls.length) return { decision: "deny", by: "blocked", reason: "no call was named", calls: [] };
  const all = calls.map((call) => judged(call, mode, rules));
  const rank = (call) => STRICTEST_FIRST.indexOf(call.decision) * 10 + SOURCES.indexOf(call.by);
  const { decision, by, reason } = all.reduce((first, call) => (rank(call) < rank(first) ? call : first));
  return { decision, by, reason, calls: all };
};

exports.decide = decide;
exports.scopeOverrides = (calls, scope) =>
  asked(calls).flatMap((call) => call.scopes.filter((offer) => offer.scope === scope).map((offer) => ({
    decision: "allow", scope: offer.scope, tool: call.name, value: offer.value,
    ...(call.kind === "command" ? { sandbox: call.sandbox, network: call.network.length > 0 } : {}),
  })));

const OUTSIDE = access({ writes: true, protected: true, network: true, outside: true });
const outcome = ({ context: { id, verdict, decision, scope, outside, reason } }) => {
  const wasAsked = verdict.decision === "ask";
  const shown = (call) => (decision !== "allowed" ? "refused" : wasAsked ? "approved" : TRANSPARENCY[call.risk]);
  const given = (call) => (outside && call.outside && call.decision === "ask" ? OUTSIDE : call.access);
  return {
    id, decision, scope, by: !wasAsked ? verdict.by : decision === "expired" ? "nobody" : "person",
    reason: wasAsked ? reason : verdict.reason,
    calls: verdict.calls.map((call) => ({ ...call, access: given(call), shown: shown(call) })),
  };
};
const giveReason = assign(({ event }, params) => ({ reason: event.reason || params.reason }));
const actions = {
  askParent: enqueueActions(({ context: { id, verdict, timeoutMs, reportsToParent }, enqueue }) => {
    if (reportsToParent)
      enqueue.sendTo(({ self }) => self._parent, { type: "PERMISSION.REQUESTED", id, calls: verdict.calls, timeoutMs });
  }),
  allow: assign(({ event }) => ({ scope: event.scope || "once", outside: event.outside === true, reason: "a person allowed it" })),
  deny: giveReason,
  expire: giveReason,
  conclude: assign((_, params) => ({ decision: params.decision })),
};
const guards = {
  isDecided: ({ context }, params) => context.verdict.decision === params.decision && context.verdict.by === params.by,
  isAnswer: ({ context, event }) => event.id == null || event.id === context.id,
  isAllowance: ({ context: { id, verdict }, event }) => {
    const scope = event.scope || "once";
    const outside = event.outside || false;
    const offered = ["once", ...asked(verdict.calls).flatMap((call) => call.scopes.map((offer) => offer.scope))];
    if ((event.id ?? null) !== id || !offered.includes(scope)) return false;
    return outside === false || (outside === true && scope === "once" && asked(verdict.calls).some((call) => call.outside));
  },
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
