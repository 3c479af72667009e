// Loads the charts of this project in XState as they are, and prints the definition it makes of each.
// Needs `xstate` where Node looks for it.
const { readdirSync, readFileSync } = require("fs");
const { join } = require("path");
const { createMachine } = require("xstate");

const CHARTS = join(__dirname, "..", "..", "src", "antiphon", "machines");
const names = readdirSync(CHARTS).filter((file) => file.endsWith(".json")).sort();
const found = names.map((file) => {
  const machine = createMachine(JSON.parse(readFileSync(join(CHARTS, file), "utf8")));
  return [file.replace(".json", ""), { events: machine.events, definition: machine.toJSON() }];
});
console.log(JSON.stringify(Object.fromEntries(found)));
