// Guards of built-in functions: QuickJS looks at the time limit where scripts call and repeat, so that a loop inside
// a built-in function would not end. Evaluated before `realm.js`, which freezes what is here.
//
// 1. Methods of arrays refuse what is longer than LONGEST, and a length that is computed, because it could change.
// 2. Searches in texts and for texts refuse what may take more than MOST_COMPARISONS.
//    Patterns are limited in their length, and those that refer to groups in that of the text.
// 3. `concat`, `flat` and `flatMap`, which repeat through arrays inside arrays, are written here instead.
// 4. Other calls count by the size of what they take: `spend` repeats an empty loop, where QuickJS looks at the time.
// 5. There is no Proxy, whose lengths could change, and no BigInt, of which one operator may compute for a second.
//
// The value is a function that returns whether a program may have left work for later, by `async` or `import`.
(() => {
  'use strict';
  const LONGEST = 1_000_000;
  const MOST_COMPARISONS = 100_000_000;
  const LONGEST_PATTERN = 10_000;
  const LONGEST_REPEATED = 100_000;
  const STEPS_PER_TURN = 50;
  const root = globalThis;
  const Guard = Proxy;
  const {apply, construct, getOwnPropertyDescriptor, getPrototypeOf, ownKeys} = Reflect;
  const {isArray} = Array;
  const {isView} = ArrayBuffer;
  const {defineProperty} = Object;
  const {isConcatSpreadable} = Symbol;
  const {includes} = String.prototype;

  const spend = steps => { for (let turns = steps / STEPS_PER_TURN; turns > 1; turns--); };
  const isObject = value => (typeof value === 'object' && value !== null) || typeof value === 'function';
  const lengthOf = value => {
    if (typeof value === 'string' || isArray(value)) return value.length;
    if (!isObject(value)) return 0;
    if (isView(value)) throw new TypeError('a typed array has methods of its own');
    for (let object = value; object !== null; object = getPrototypeOf(object)) {
      const property = getOwnPropertyDescriptor(object, 'length');
      if (property === undefined) continue;
      if (!('value' in property) || isObject(property.value)) throw new TypeError('the length of a list must be a number');
      return +property.value;
    }
    return 0;
  };
  const measure = list => {
    const length = lengthOf(list);
    if (length > LONGEST) throw new RangeError(`a list of ${length} items; the limit is ${LONGEST}`);
    return length;
  };

  // A proxy looks like the function that it guards: its name, its length, and native code.
  const guard = (object, key, run, make) => {
    const property = getOwnPropertyDescriptor(object, key);
    if (typeof property?.value !== 'function') return;
    const handler = {apply: run, ...(make ? {construct: make} : {})};
    defineProperty(object, key, {...property, value: new Guard(property.value, handler)});
  };
  const guardOthers = (object, done, run) => {
    for (const key of ownKeys(object)) if (key !== 'constructor' && !done.includes(key)) guard(object, key, run);
  };

  const put = (array, index, value) =>
    defineProperty(array, index, {value, writable: true, enumerable: true, configurable: true});
  const addItems = (result, list, depth) => {
    const length = measure(list);
    measure(result);
    for (let index = 0; index < length; index++) {
      if (!(index in list)) continue;
      const item = list[index];
      if (depth > 0 && isArray(item)) addItems(result, item, depth - 1);
      else put(result, result.length, item);
    }
    return result;
  };
  const own = {
    concat(...items) {
      const result = [];
      const lists = [Object(this), ...items];
      for (let number = 0; number < lists.length; number++) {
        const item = lists[number];
        const choice = isObject(item) ? item[isConcatSpreadable] ?? isArray(item) : false;
        const start = result.length;
        const length = choice ? measure(item) : 1;
        if (choice) for (let index = 0; index < length; index++) { if (index in item) put(result, start + index, item[index]); }
        else put(result, start, item);
        result.length = start + length;
        measure(result);
      }
      return result;
    },
    flat(depth = 1) { return addItems([], this, +depth); },
    flatMap(convert, self) {
      const length = measure(this);
      const result = [];
      for (let index = 0; index < length; index++) {
        if (index in this) addItems(result, [apply(convert, self, [this[index], index, this])], 1);
      }
      return result;
    },
  };
  for (const key of ownKeys(own)) defineProperty(Array.prototype, key, {value: own[key]});

  const search = (native, self, args) => {
    const length = measure(self);
    const comparisons = length * (typeof args[0] === 'string' ? args[0].length + 1 : 1);
    if (comparisons > MOST_COMPARISONS) throw new RangeError('the list and the text are too long for a search');
    spend(comparisons);
    return apply(native, self, args);
  };
  const compare = (a, b) => {
    const first = `${a}`;
    const second = `${b}`;
    return first < second ? -1 : first > second ? 1 : 0;
  };
  const sort = (native, self, args) => {
    measure(self);
    return apply(native, self, args[0] === undefined ? [compare] : args);
  };
  const measured = (native, self, args) => {
    measure(self);
    return apply(native, self, args);
  };
  const counted = (native, self, args) => {
    spend(measure(self));
    return apply(native, self, args);
  };
  const ofArrays = {
    indexOf: search, lastIndexOf: search, includes: search, sort, toSorted: sort, at: measured, push: measured,
    pop: measured, keys: measured, values: measured, entries: measured, [Symbol.iterator]: measured};
  for (const key of ownKeys(ofArrays)) guard(Array.prototype, key, ofArrays[key]);
  guardOthers(Array.prototype, [...ownKeys(own), ...ownKeys(ofArrays)], counted);
  // QuickJS repeats through an array in one go as long as this function is its own.
  guard(getPrototypeOf([].values()), 'next', (native, self, args) => apply(native, self, args));

  const countedTexts = (native, self, args) => {
    if (typeof self === 'string') spend(self.length);
    for (let index = 0; index < args.length; index++) if (typeof args[index] === 'string') spend(args[index].length);
    return apply(native, self, args);
  };
  const searchText = (symbol, isEvery) => (native, self, args) => {
    if (self === undefined || self === null) return apply(native, self, args);
    const method = isObject(args[0]) && symbol ? args[0][symbol] : undefined;
    if (isEvery && args[0] instanceof RegExp && !args[0].global) throw new TypeError('replaceAll needs the flag g');
    if (method !== undefined && method !== null) return apply(method, args[0], [self, args[1]]);
    const text = `${self}`;
    const rest = [...args];
    if (args.length > 0 && (symbol === undefined || args[0] !== undefined)) rest[0] = `${args[0]}`;
    const needle = rest[0]?.length ?? 0;
    const comparisons = needle > text.length ? 0 : (text.length - needle + 1) * needle;
    if (comparisons > MOST_COMPARISONS) throw new RangeError('the texts are too long for a search');
    spend(Math.max(text.length, comparisons));
    return apply(native, text, rest);
  };
  const ofTexts = {
    indexOf: searchText(), lastIndexOf: searchText(), includes: searchText(), split: searchText(Symbol.split),
    replace: searchText(Symbol.replace), replaceAll: searchText(Symbol.replace, true)};
  const quick = ['at', 'charAt', 'charCodeAt', 'codePointAt', 'slice', 'substring', 'substr', 'startsWith', 'endsWith',
                 'toString', 'valueOf', Symbol.iterator];
  for (const key of ownKeys(ofTexts)) guard(String.prototype, key, ofTexts[key]);
  guardOthers(String.prototype, [...ownKeys(ofTexts), ...quick], countedTexts);
  guard(JSON, 'stringify', (native, self, args) => {
    for (let index = 0; index < 2; index++) if (isArray(args[index])) measure(args[index]);
    let text;
    try {
      text = apply(native, self, args);
    } finally {
      spend(text?.length ?? 1_000_000);  // without a text the memory was perhaps used up
    }
    return text;
  });
  guard(JSON, 'parse', countedTexts);
  for (const key of ['parseInt', 'parseFloat', 'encodeURI', 'encodeURIComponent', 'decodeURI', 'decodeURIComponent',
                     'escape', 'unescape', 'btoa', 'atob']) guard(root, key, countedTexts);
  for (const key of ['keys', 'values', 'entries']) {
    guard(Object, key, (native, self, args) => {
      const list = apply(native, self, args);
      spend(list.length);
      return list;
    });
  }

  // A pattern is matched without a look at the time until it does not match.
  const sourceOf = getOwnPropertyDescriptor(RegExp.prototype, 'source').get;
  const references = Array.from('k123456789', name => `\\${name}`);
  guard(RegExp.prototype, 'exec', (native, self, args) => {
    const source = apply(sourceOf, self, []);
    const text = `${args[0]}`;
    if (source.length > LONGEST_PATTERN) throw new RangeError(`a pattern of more than ${LONGEST_PATTERN} characters`);
    if (text.length > LONGEST_REPEATED && references.some(reference => apply(includes, source, [reference]))) {
      throw new RangeError(`a text of more than ${LONGEST_REPEATED} characters for a pattern that refers to groups`);
    }
    return apply(native, self, [text]);
  });

  // Text that is a program must not have BigInts. Where a text only seems to, it is inside quotation marks or a
  // comment, and the program is still one if it is something else.
  const compile = (0, eval);
  const bigint = /(?<![\p{ID_Continue}$])(0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|\d[\d_]*)n(?![\p{ID_Continue}$])/gu;
  const hints = ['0x', '0X', ...Array.from('0123456789', digit => `${digit}n`)];  // found faster than a pattern
  const substitute = RegExp.prototype[Symbol.replace];
  const refuseBigints = text => {
    if (!hints.some(hint => apply(includes, text, [hint]))) return;
    const other = apply(substitute, bigint, [text, '$1@']);
    if (other === text) return;
    try { compile(`(function () {\n${other}\n})`); } catch { throw new SyntaxError('there is no BigInt; use numbers'); }
  };
  let isLater = false;
  const inspect = text => {
    refuseBigints(text);
    if (apply(includes, text, ['async']) || apply(includes, text, ['import'])) isLater = true;
  };
  guard(root, 'eval', (native, self, args) => {
    if (typeof args[0] === 'string') inspect(args[0]);
    return compile(args[0]);
  });
  const readTexts = args => {
    const texts = [];
    for (let index = 0; index < args.length; index++) put(texts, index, `${args[index]}`);
    const parameters = texts.slice(0, -1).join();
    inspect(`(function (${parameters}\n) {\n${texts[texts.length - 1] ?? ''}\n})`);
    return texts;
  };
  guard(root, 'Function', (native, self, args) => construct(native, readTexts(args)),
        (native, args, kind) => construct(native, readTexts(args), kind));
  for (const kind of [function* () {}, async function () {}, async function* () {}]) {
    const prototype = getPrototypeOf(kind);
    Object.setPrototypeOf(prototype.constructor, root.Function);
    delete prototype.constructor;
  }
  defineProperty(Function.prototype, 'constructor', {value: root.Function});
  for (const key of ['BigInt', 'BigInt64Array', 'BigUint64Array', 'Proxy', 'Promise',
                     'AsyncDisposableStack']) delete root[key];
  for (const key of ['getBigInt64', 'getBigUint64', 'setBigInt64', 'setBigUint64']) delete DataView.prototype[key];
  delete Array.fromAsync;
  return () => isLater;
})()
