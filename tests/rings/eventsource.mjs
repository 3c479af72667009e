// EventSource, of the npm package or of Chromium, behind a proxy that cuts it while a reply arrives: prints what it got.
import net from "node:net";
import { EventSource } from "eventsource";
import { chromium } from "playwright-core";

const [address, token, thread, browser] = process.argv.slice(2);
const CUTS = 3;
const BETWEEN = 4; // messages between two cuts, at least
const headers = { Authorization: `Bearer ${token}` };
const ids = []; // of the messages, in their order
const lastIds = []; // `Last-Event-ID` of each request for the stream
let cuts = 0;
let next = 2; // number of messages after which a cut is due
let isArmed = false;
let finish;
const finished = new Promise((resolve) => (finish = resolve));

// Pass a connection on; when a cut is due, half of the next bytes of the stream are the last ones.
const proxy = net.createServer((client) => {
  const server = net.connect(Number(new URL(address).port), "127.0.0.1");
  let isStream = false;
  const end = () => [client, server].forEach((socket) => socket.destroy());
  [client, server].forEach((socket) => socket.on("error", end).on("close", end));
  client.on("data", (bytes) => {
    const text = bytes.toString("latin1");
    if (text.startsWith(`GET /threads/${thread}/events `)) {
      isStream = true;
      lastIds.push(/^last-event-id: *(.*?)\r?$/im.exec(text)?.[1] ?? null);
    }
    server.write(bytes);
  });
  server.on("data", (bytes) => {
    if (!isStream || !isArmed) return client.write(bytes);
    isArmed = false;
    cuts += 1;
    next = ids.length + BETWEEN;
    client.write(bytes.subarray(0, bytes.length / 2), end);
  });
});
await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
const front = `http://127.0.0.1:${proxy.address().port}`;

const take = ([id, data]) => {
  ids.push(id);
  if (cuts < CUTS && ids.length >= next) isArmed = true;
  const { kind, facts } = JSON.parse(data);
  if (kind === "status" && !["pending", "running"].includes(facts.status)) finish();
};
const say = () =>
  fetch(`${address}/threads/${thread}/messages`, {
    method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify({ text: "Hello" }),
  });

// Follow the thread with the npm package, which gets its header by its own `fetch`.
const followWithNode = async () => {
  const source = new EventSource(`${front}/threads/${thread}/events`, {
    fetch: (url, options) => fetch(url, { ...options, headers: { ...options.headers, ...headers } }),
  });
  source.onmessage = (event) => take([event.lastEventId, event.data]);
  await new Promise((resolve) => source.addEventListener("open", resolve, { once: true }));
  return () => source.close();
};

// Follow it in a page of the server, with the cookie of a browser that has opened the printed address.
const followWithChromium = async () => {
  const quiet = ["gpu", "quic", "background-networking", "component-update", "sync"].map((name) => `--disable-${name}`);
  const started = await chromium.launch({
    executablePath: browser,
    args: ["--no-first-run", ...quiet, ...(process.getuid() === 0 ? ["--no-sandbox"] : [])],
  });
  // Pages of the server may not connect to anything, because they have no scripts; this one has one.
  const page = await (await started.newContext({ bypassCSP: true })).newPage();
  await page.exposeFunction("take", take);
  await page.goto(`${front}/?token=${token}`);
  await page.evaluate((path) => {
    const source = new EventSource(path);
    source.onmessage = (event) => window.take([event.lastEventId, event.data]);
    return new Promise((resolve) => source.addEventListener("open", resolve, { once: true }));
  }, `/threads/${thread}/events`);
  return () => started.close();
};

const close = await (browser ? followWithChromium() : followWithNode());
const { status } = await say();
await finished;
await close();
proxy.close();
console.log(JSON.stringify({ status, ids, lastIds, cuts }));
process.exit(0);
