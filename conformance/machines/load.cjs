// Loads the charts of this project in XState as they are, and prints the definition it makes of each.
// Needs `xstate` where Node looks for it.
const { createMachine } = require("xstate");
const { chartOf, names } = require("./charts.cjs");

const found = names.map((name) => {
  const machine = createMachine(chartOf(name));
  return [name, { events: machine.events, definition: machine.toJSON() }];
});
console.log(JSON.stringify(Object.fromEntries(found)));
