'use strict';
/* Lists of actions, each fit for the place where it runs.
 *
 * A place is {node, kind, external, refills}: kind is entry, exit, stay (a transition without target) or move;
 * external says that the event is one of EVENTS, so that `v` is there; refills, that it comes from the script alone.
 */
const { EVENTS, TIMED, RAISED, MESSAGES, SPAWNED } = require('./events.cjs');
const { lineage } = require('./tree.cjs');

const INCREMENT = { $assign: { n: ['+', ['ctx', 'n'], 1] } };
const FRESH = { $expr: ['<', ['ctx', 'a'], 6] };
const COUNT = { $assign: { a: ['+', ['ctx', 'a'], 1] } };
const REFILL = { $assign: { b: 0 } };
const TIMERS = ['d1', 'd2'];
const NAMED_DELAYS = { short: 5, growing: { $expr: ['+', ['ctx', 'n'], 5] } };

class Actions {
  constructor(world, guards) {
    Object.assign(this, world);
    this.guards = guards;
  }

  list(tag, place) {
    const { random } = this;
    const actions = [];
    const maybe = (probability, make) => random.chance(probability) && actions.push(...make());
    maybe(0.75, () => [this.custom(tag)]);
    maybe(0.2, () => [INCREMENT]);
    maybe(place.external ? 0.15 : 0.003, () => [this.raise()]);
    maybe(place.kind === 'entry' ? 0.08 : 0, () => [this.countedRaise()]);
    maybe(place.external ? 0.1 : 0, () => [{ $assign: this.assignment() }]);
    maybe(place.refills && this.level === 0 ? 0.6 : 0, () => [REFILL]);
    maybe(0.05, () => [{ $raise: { type: random.pick(TIMED), v: ['ctx', 'n'] }, ...this.timing() }]);
    maybe(0.04, () => [{ $cancel: random.pick(TIMERS) }]);
    maybe(0.06, () => [this.outward()]);
    maybe(0.06, () => [this.enqueue(tag)]);
    maybe(0.02, () => [`?${tag}`]);
    maybe(0.0008, () => [{ $throw: 'thrown by ' + tag }]);
    maybe(this.actorShare(place), () => this.actorActions(place));
    maybe(0.25, () => [tag + "'"]);
    return actions;
  }

  actorShare({ node, kind }) {
    const { actorActions } = this.settings;
    return this.level || (kind === 'entry' && !node.parent) ? actorActions * 1.6 : actorActions;
  }

  custom(tag) {
    const { random } = this;
    if (random.chance(0.75)) return tag;
    return { type: tag, params: random.pick([{ fixed: true }, { $expr: ['obj', { n: ['ctx', 'n'], type: ['ev', 'type'] }] }]) };
  }

  assignment() {
    return this.random.pick([
      { n: ['ev', 'v'] },
      { l: ['cat', ['ctx', 'l'], ['ev', 'type']] },
      { n: 1, last: ['ctx', 'n'] },
      ['obj', { n: ['+', ['ctx', 'n'], ['ev', 'v']], last: ['ev', 'type'] }],
    ]);
  }

  raise() {
    return { $raise: { type: this.random.pick(RAISED) } };
  }

  // An entry that raises may bring about its own repetition.
  countedRaise() {
    return { $enqueue: [{ if: FRESH, do: [COUNT, this.raise()] }] };
  }

  event() {
    return { type: this.random.pick(EVENTS), v: ['ctx', 'n'] };
  }

  message() {
    return { type: this.random.pick(MESSAGES), v: ['ctx', 'n'] };
  }

  timing() {
    const { random } = this;
    const delay = random.pick([5, 10, 15, 20, 'short', 'growing', { $expr: ['+', ['ctx', 'n'], 3] }]);
    return random.chance(0.7) ? { delay, id: random.pick(TIMERS) } : { delay };
  }

  outward() {
    const { random } = this;
    return random.pick([
      { $emit: { type: 'm', n: ['ctx', 'n'] } },
      { $emit: { type: 'still' } },
      { $log: ['ctx', 'n'], label: 'n' },
      { $log: ['ev', 'type'] },
    ]);
  }

  enqueue(tag) {
    const branch = { if: this.guards.make(1), do: ['q:' + tag, INCREMENT], else: ['r:' + tag] };
    const nested = { $enqueue: [{ $emit: { type: 'nested' } }] };
    return { $enqueue: this.random.pick([[branch], [INCREMENT, branch, 'z:' + tag], [branch, nested]]) };
  }

  /** Ids of invoked children that surely exist when an action of this place runs. */
  alive({ node, kind }) {
    const owners = kind === 'move' ? [this.tree.root] : lineage(node);
    return owners.flatMap((owner) => owner.invokes.map((invoke) => invoke.resolvedId));
  }

  actorActions(place) {
    const alive = this.alive(place);
    const kinds = [[20, 'spawn'], [10, 'stop'], [14, 'poke'], [5, 'self']];
    if (alive.length) kinds.push([24, 'sendTo'], [0.5, 'stopInvoked']);
    if (alive.length && place.external) kinds.push([12, 'forward']);
    if (this.level > 0) kinds.push([60, 'sendParent']);
    return this.actorAction(this.random.weighted(kinds), alive);
  }

  actorAction(kind, alive) {
    const { random } = this;
    const timing = random.chance(0.25) ? this.timing() : {};
    switch (kind) {
      case 'spawn': return this.spawn();
      case 'stop': return this.stop();
      case 'poke': return [this.poke(random.pick(SPAWNED), timing)];
      case 'self': return [{ $sendTo: '#_internal', event: this.message(), ...timing }];
      case 'sendTo': return [{ $sendTo: random.pick(alive), event: this.event(), ...timing }];
      case 'forward': return [{ $forwardTo: random.pick(alive), ...timing }];
      case 'sendParent': return [{ $sendParent: this.message(), ...timing }];
      default: return [{ $stop: random.pick(alive) }];
    }
  }

  /** Messages to actors that are looked up by their systemId. */
  lookups() {
    const { random } = this;
    const event = () => random.pick([this.event(), this.message()]);
    const send = () => ({ $sendTo: { $system: random.pick(this.systemIds) }, event: event() });
    return random.chance(0.5) ? [send()] : [send(), send()];
  }

  // The context remembers which spawned children exist, because a send to a missing one ends the actor.
  spawn() {
    const { random } = this;
    const id = random.pick(SPAWNED);
    const action = { $spawn: random.pick(Object.keys(this.catalogue)), id, input: { $expr: ['obj', { x: ['ctx', 'n'] }] } };
    if (random.chance(0.3)) action.syncSnapshot = true;
    if (random.chance(0.04)) action.systemId = 'sys:' + id;
    const actions = [action, { $assign: { [id]: true } }];
    if (random.chance(0.3)) actions.push({ $sendTo: id, event: this.event() });
    return actions;
  }

  stop() {
    const id = this.random.pick(SPAWNED);
    return [{ $stop: id }, { $assign: { [id]: false } }];
  }

  poke(id, timing) {
    return { $enqueue: [{ if: { $expr: ['ctx', id] }, do: [{ $sendTo: id, event: this.event(), ...timing }] }] };
  }
}

module.exports = { Actions, NAMED_DELAYS, INCREMENT, FRESH, COUNT };
