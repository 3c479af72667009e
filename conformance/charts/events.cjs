'use strict';
/* The events of extended charts, by who may send them.
 *
 * EVENTS come from the script or from a parent, and always carry a number `v`.
 * TIMED ones also come from timers, which may set timers again: they never refill a budget.
 * RAISED ones stay inside one macrostep, which maxIterations limits.
 * MESSAGES come from a child, a sibling or the actor itself: only handlers with a budget react to them.
 */
const EVENTS = ['E0', 'E1', 'E2', 'a.b', 'a.c.d'];
const TIMED = ['E0', 'a.b', 'a.c.d'];
const RAISED = ['R0', 'R1'];
const MESSAGES = ['c.0', 'c.1'];
// Handled by a root without target, so that no actor comes or goes in the microstep which looks another one up.
const LOOKUP = 'LOOKUP';
const SPAWNED = ['s1', 's2'];

module.exports = { EVENTS, TIMED, RAISED, MESSAGES, SPAWNED, LOOKUP };
