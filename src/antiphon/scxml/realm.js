// The realm of the data model: evaluates the expressions of all documents, and keeps nothing between evaluations.
//
// 1. Variables are properties of the global object. `enter` removes what is there and defines those of a session;
//    `leave` returns them as JSON. Between the two a block of content runs; nothing else is carried over.
// 2. So that nothing else can be, all built-in objects are frozen and built-in names are read-only.
// 3. So that a step gives the same result whenever it is computed again, there is no clock and no randomness.
// The argument is the value of `guards.js`.
(isLater => {
  'use strict';
  const root = globalThis;
  for (const name of ['Date', 'WeakRef', 'FinalizationRegistry', 'Atomics', 'SharedArrayBuffer', 'performance',
                      'navigator', 'queueMicrotask', 'console', 'print', 'scriptArgs']) delete root[name];
  delete Math.random;
  // These are kept by QuickJS itself, for all documents.
  for (const [key, value] of [['stackTraceLimit', 10], ['prepareStackTrace', undefined]]) {
    Object.defineProperty(Error, key, {value, writable: false, enumerable: false});
  }

  class Element {
    constructor(tree) {
      const [tag, attributes, children, text] = tree;
      Object.defineProperty(this, 'tree', {value: tree});
      this.tagName = tag;
      this.nodeName = tag;
      this.attributes = attributes;
      this.textContent = text;
      this.childNodes = children.map(child => new Element(child));
    }
    get documentElement() { return this; }
    getAttribute(name) { return this.attributes[name] ?? null; }
    getElementsByTagName(tag) {
      return this.childNodes.flatMap(node => [...(node.tagName === tag ? [node] : []), ...node.getElementsByTagName(tag)]);
    }
    toString() { return this.tree[4]; }
  }

  let active = new Set();
  const isActive = id => active.has(id);
  Object.defineProperty(root, 'In', {value: isActive});
  let own = {};
  for (const name of ['_sessionid', '_name', '_ioprocessors', '_x', '_event']) {
    Object.defineProperty(root, name, {
      get: () => own[name], set() { throw new TypeError(`${name} is read-only`); }, enumerable: false, configurable: false});
  }

  // A frozen property of a prototype could not be overridden by assignment in objects that inherit it.
  const allowOverride = object => {
    for (const [key, {value, configurable}] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
      if (!configurable || value === undefined) continue;
      const set = function (own) {
        if (this === object) throw new TypeError(`${key} is read-only`);
        Object.defineProperty(this, key, {value: own, writable: true, enumerable: true, configurable: true});
      };
      Object.defineProperty(object, key, {get: () => value, set, enumerable: false});
    }
  };
  [Object, Array, Function, Error].forEach(kind => allowOverride(kind.prototype));

  const frozen = new Set([root]);
  const freeze = object => {
    if ((typeof object !== 'object' && typeof object !== 'function') || object === null || frozen.has(object)) return;
    frozen.add(object);
    Object.freeze(object);
    freeze(Object.getPrototypeOf(object));
    for (const {value, get, set} of Object.values(Object.getOwnPropertyDescriptors(object))) [value, get, set].forEach(freeze);
    for (const key of Object.getOwnPropertySymbols(object)) {
      const {value, get, set} = Object.getOwnPropertyDescriptor(object, key);
      [value, get, set].forEach(freeze);
    }
  };
  const builtIn = new Set(Reflect.ownKeys(root));
  for (const name of builtIn) {
    if (name !== 'globalThis') freeze(root[name]);
    Object.defineProperty(root, name, {enumerable: false, configurable: false});
    if ('value' in Object.getOwnPropertyDescriptor(root, name)) Object.defineProperty(root, name, {writable: false});
  }
  [Element, [][Symbol.iterator](), new Map()[Symbol.iterator](), new Set()[Symbol.iterator](), ''[Symbol.iterator](),
   ''.matchAll(/a/g), function* () {}, async function () {}, async function* () {}, (function* () {})()].forEach(freeze);

  const compile = (0, eval);
  const sourceOf = Function.prototype.toString;
  const read = source => {
    try { return compile(`(${source}\n)`); } catch { return undefined; }
  };
  const encodeFunction = value => {
    const source = Reflect.apply(sourceOf, value, []);
    return typeof read(source) === 'function' ? {$function: source} : {$undefined: true};
  };
  // A variable keeps what JSON lacks; the data of an event is plain JSON, but for XML.
  const encode = (value, keep) => {
    switch (typeof value) {
      case 'string': return value.toWellFormed();
      case 'number': return Number.isFinite(value) ? value : keep ? {$number: String(value)} : null;
      case 'boolean': return value;
      case 'function': return keep ? encodeFunction(value) : undefined;
      case 'object': return value === null ? null : encodeObject(value, keep);
      default: return keep ? {$undefined: true} : undefined;
    }
  };
  // Of the system's own objects, variables keep which they are, so that comparing them with `==` gives what it gave.
  let system = {};
  let shown;
  const encodeObject = (value, keep) => {
    if (keep && value === root._event) return {$event: shown};
    const own = keep && Object.keys(system).find(name => system[name] === value);
    if (own) return {$system: own};
    if (value instanceof Element) return {$xml: value.tree};
    if (Array.isArray(value)) return Array.from(value, item => encode(item, keep) ?? null);
    if (typeof value.toJSON === 'function') return encode(value.toJSON(), keep);
    if ([Number, String, Boolean].some(kind => value instanceof kind)) return encode(value.valueOf(), keep);
    const pairs = Object.keys(value).map(key => [key.toWellFormed(), encode(value[key], keep)]);
    const object = Object.fromEntries(pairs.filter(([, inner]) => inner !== undefined));
    const isMarked = pairs.length === 1 && (keep ? pairs[0][0][0] === '$' : pairs[0][0] === '$xml' || pairs[0][0] === '$object');
    return isMarked ? {$object: object} : object;
  };
  const decode = (value, keep) => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(item => decode(item, keep));
    const keys = Object.keys(value);
    if (keys.length === 1) {
      const inner = value[keys[0]];
      if (keys[0] === '$xml' && isTree(inner)) return new Element(inner);
      if (keep) {
        switch (keys[0]) {
          case '$undefined': return undefined;
          case '$number': return Number(inner);
          case '$function': return read(inner);
          case '$system': return system[inner];
          case '$event': return JSON.stringify(inner) === JSON.stringify(shown) ? own._event : event(inner);
        }
      }
      if (keys[0] === '$object' && typeof inner === 'object' && inner !== null) return decodeAll(inner, keep);
    }
    return decodeAll(value, keep);
  };
  const isTree = value => Array.isArray(value) && value.length === 5 && typeof value[0] === 'string' &&
    typeof value[1] === 'object' && value[1] !== null && Array.isArray(value[2]) && value[2].every(isTree);
  const decodeAll = (object, keep) => {
    const copy = {};
    for (const [key, value] of Object.entries(object)) {
      Object.defineProperty(copy, key, {value: decode(value, keep), writable: true, enumerable: true, configurable: true});
    }
    return copy;
  };

  // Texts of documents are compiled once, unless they are long: together they must leave memory for variables.
  const functions = new Map();
  const LONGEST_KEPT = 1000;
  const MOST_KEPT = 100_000;
  let keptLength = 0;
  const compiled = (kind, text, make) => {
    const key = kind + text;
    const known = functions.get(key);
    if (known !== undefined) return known;
    const made = Object.freeze(make());
    if (text.length <= LONGEST_KEPT) {
      keptLength += text.length;
      if (keptLength > MOST_KEPT) {
        functions.clear();
        keptLength = text.length;
      }
      functions.set(key, made);
    }
    return made;
  };
  // What ends the parentheses around it is an error inside brackets: it would run now, and not the next time.
  const compileInside = (text, source) => {
    compile(`(() => [\n${text}\n])`);
    return compile(source);
  };
  const evaluate = text => compiled('=', text, () => compileInside(text, `(() => (\n${text}\n))`))();
  const fields = ['name', 'type', 'sendid', 'origin', 'origintype', 'invokeid', 'data'];
  const event = given => given && Object.freeze(Object.fromEntries(fields.map(name => [name, decode(given[name], false)])));

  let value;
  let copies = [];
  const clean = () => {
    copies = [];
    value = undefined;
    for (const name of Reflect.ownKeys(root)) if (!builtIn.has(name) && !Reflect.deleteProperty(root, name)) return false;
    return !isLater() && Object.isExtensible(root) && Object.getPrototypeOf(root) === Object.prototype;
  };
  const operations = {
    enter(variables, given, states, names) {
      if (!clean()) return false;
      active = new Set(JSON.parse(states));
      system = JSON.parse(names);
      for (const name of Object.keys(system)) Object.freeze(system[name]);
      shown = JSON.parse(given) ?? undefined;
      own = {...system};
      own._event = event(shown);
      for (const [name, inner] of Object.entries(JSON.parse(variables))) if (!builtIn.has(name)) root[name] = decode(inner, true);
      return true;
    },
    leave() {
      const variables = {};
      const problems = {};
      for (const name of Object.keys(root)) {
        const key = name.toWellFormed();
        try {
          Object.defineProperty(variables, key, {value: encode(root[name], true), enumerable: true, configurable: true});
        } catch (error) {  // such as a variable that contains itself
          Object.defineProperty(problems, key, {value: String(error), enumerable: true, configurable: true});
        }
      }
      return JSON.stringify([variables, problems]);
    },
    probe() { return ' '.repeat(2 ** 21).length; },
    put(text) { value = evaluate(text); },
    putJson(text) { value = decode(JSON.parse(text), false); },
    get() { return JSON.stringify(encode(value, false)); },
    text(text) { return String(evaluate(text)).toWellFormed(); },
    holds(text) { return !!evaluate(text); },
    assign(location) {
      compiled('<', location, () => compileInside(location, `(value => { 'use strict'; ${location}\n = value; })`))(value);
    },
    declare(name) {
      if (!/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name)) throw new SyntaxError(`not a name of a variable: ${name}`);
      compiled('var', name, () => compile(`(() => { var ${name}; })`));
      if (!(name in root)) root[name] = undefined;
    },
    run(script) { compile(script); },
    copy(array) {
      const items = evaluate(array);
      if (!Array.isArray(items)) throw new TypeError('foreach needs an array');
      copies.push([...items]);
      return items.length;
    },
    item(name, index) { root[name] = copies[copies.length - 1][index]; },
    forget() { copies.pop(); },
  };
  return (name, ...rest) => operations[name](...rest);
})
