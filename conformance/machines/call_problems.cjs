// Twin of threads/machine/call_problems.py: calls of unknown tools, or with broken arguments.
const { isObject, repr } = require("./python.cjs");

const TYPES = {
  string: (value) => typeof value === "string", number: (value) => typeof value === "number",
  integer: (value) => typeof value === "number", boolean: (value) => typeof value === "boolean", array: Array.isArray, object: isObject,
};
const parsed = (text) => {
  if (typeof text !== "string") return text;
  try { return JSON.parse(text || "{}"); } catch { return null; }
};
const problemsOf = (given, { properties = {}, required = [], ...schema }) => {
  const isClosed = schema.additionalProperties === false && !("patternProperties" in schema);
  const missing = required.filter((key) => !(key in given)).map((key) => `$.${key} is missing`);
  return [...missing, ...Object.entries(given).flatMap(([key, value]) => {
    if (!(key in properties)) return isClosed ? [`$.${key} is unknown; known: ${Object.keys(properties).join(", ")}`] : [];
    const fits = TYPES[properties[key].type];
    return !fits || fits(value) ? [] : [`$.${key} must be of type ${properties[key].type}`];
  })];
};
const problem = ({ name, arguments: text }, tools) => {
  if (!Object.hasOwn(tools, name)) return `There is no tool ${repr(name)}.`;
  const given = parsed(text);
  if (!isObject(given)) return `The arguments of ${name} are not a JSON object.`;
  const found = problemsOf(given, tools[name].parameters ?? {});
  return found.length ? `The arguments of ${name} are not valid: ${found.join("; ")}.` : null;
};

exports.problemWithCall = (call, tools) => {
  const found = problem(call, tools);
  return found ? { problem: found } : {};
};
