// What Python writes differently: JSON with sorted keys, and values as they stand in messages.
const sorted = (value, comma, colon) => {
  if (Array.isArray(value)) return `[${value.map((one) => sorted(one, comma, colon)).join(comma)}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}${colon}${sorted(value[key], comma, colon)}`);
  return `{${entries.join(comma)}}`;
};
const repr = (value) => {
  if (value == null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return `'${value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")}'`;
  if (Array.isArray(value)) return `[${value.map(repr).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([key, one]) => `${repr(key)}: ${repr(one)}`).join(", ")}}`;
  return String(value);
};
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

exports.compactJson = (value) => sorted(value, ",", ":");
exports.spacedJson = (value) => sorted(value, ", ", ": ");
exports.repr = repr;
exports.isObject = isObject;
// Lists of decisions: with further ones, each once, and without a permission that was taken back.
const isSame = (one) => (other) => sorted(one, ",", ":") === sorted(other, ",", ":");
exports.isSame = isSame;
exports.withoutPermission = (overrides, permission) => overrides.filter((one) => one.decision !== "allow" || !isSame(permission)(one));
exports.withoutConsent = (consent, permission) =>
  (consent.overrides ?? []).some(isSame(permission))
    ? { ...consent, overrides: exports.withoutPermission(consent.overrides, permission) } : consent;
// The context of a chart with what an input gives for its keys.
exports.given = (chart, input) =>
  Object.fromEntries(Object.entries(chart.context).map(([key, first]) => [key, key in input ? input[key] : first]));
// The time of a step, as scope.now is.
exports.timeOf = (self) => self.clock.now();
