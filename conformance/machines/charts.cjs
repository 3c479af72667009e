// The charts of this project, by the names of their machines: each lies beside its machine.
const { existsSync, readdirSync, readFileSync } = require("fs");
const { basename, join } = require("path");

const PACKAGE = join(__dirname, "..", "..", "src", "antiphon");
const folders = readdirSync(PACKAGE).map((feature) => join(PACKAGE, feature, "machine")).filter(existsSync);
const files = folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
  .filter((file) => file.endsWith(".json"));
const places = new Map(files.map((file) => [basename(file, ".json"), file]));

const names = [...places.keys()].sort();
const chartOf = (name) => JSON.parse(readFileSync(places.get(name), "utf8"));

module.exports = { chartOf, names };
