// Twin of threads/machine/call_problems.py: calls of unknown tools, or with broken arguments.
const { isObject, repr } = require("./python.cjs");

const parsed = (text) => {
  if (typeof text !== "string") return text;
  try { return JSON.parse(text || "{}"); } catch { return null; }
};
const problem = ({ name, arguments: text }, tools) => {
  if (!Object.hasOwn(tools, name)) return `There is no tool ${repr(name)}.`;
  const given = parsed(text);
  if (!isObject(given)) return `The arguments of ${name} are not a JSON object.`;
  const schema = tools[name].parameters ?? {};
  const missing = (schema.required ?? []).filter((key) => !(key in given));
  if (missing.length) return `The arguments of ${name} lack ${missing.join(", ")}.`;
  const unknown = Object.keys(given).filter((key) => !(key in (schema.properties ?? {})));
  const isClosed = schema.additionalProperties === false && !("patternProperties" in schema);
  return unknown.length && isClosed ? `The arguments of ${name} have ${unknown.join(", ")}, which it does not take.` : null;
};

exports.problemWithCall = (call, tools) => {
  const found = problem(call, tools);
  return found ? { problem: found } : {};
};
