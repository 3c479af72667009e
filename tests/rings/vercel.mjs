// DefaultChatTransport and AbstractChat of the npm package `ai` against a server: prints what they have got, as JSON.
import {
  AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, readUIMessageStream,
} from "ai";

const [address, token, model] = process.argv.slice(2);
const transport = (thread = {}) =>
  new DefaultChatTransport({
    api: `${address}/vercel/chat`,
    headers: { Authorization: `Bearer ${token}` },
    body: { thread: { model, tools: ["bake"], consent: { mode: "ask" }, ...thread } },
  });

class State {
  status = "ready";
  error = undefined;
  messages = [];
  pushMessage = (message) => { this.messages = [...this.messages, message]; };
  popMessage = () => { this.messages = this.messages.slice(0, -1); };
  replaceMessage = (index, message) => {
    this.messages = [...this.messages.slice(0, index), message, ...this.messages.slice(index + 1)];
  };
  snapshot = (value) => structuredClone(value);
}

class Chat extends AbstractChat {
  constructor(id, options = {}) {
    super({ id, transport: transport(), ...options, state: new State() });
  }
}

// Describe the messages of a chat: ids, roles, and the parts with their states.
const describe = (chat) => ({
  status: chat.status,
  error: chat.error?.message,
  messages: chat.messages.map(({ id, role, parts, metadata }) => ({
    id, role, metadata,
    parts: parts.map(({ type, text, state, output, errorText, data }) => ({ type, text, state, output, errorText, data })),
  })),
});
const results = {};

const chat = new Chat("ring-chat");
await chat.sendMessage({ text: "hello" });
results.sent = describe(chat);
await chat.regenerate();
results.regenerated = describe(chat);
await chat.sendMessage({ text: "bake a cake" });
results.asked = describe(chat);
let finished;
const settled = new Promise((resolve) => { finished = resolve; });
const approving = new Chat("ring-approved", {
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  onFinish: ({ message }) => { if (message.parts.some((part) => part.text === "Done.")) finished(); },
});
await approving.sendMessage({ text: "two cakes: bake" });
for (const part of approving.lastMessage.parts.filter((part) => part.state === "approval-requested")) {
  await approving.addToolApprovalResponse({ id: part.approval.id, approved: true });
}
await settled;
results.approved = describe(approving);

const denying = new Chat("ring-denied");
await denying.sendMessage({ text: "bake" });
const [denied] = denying.lastMessage.parts.filter((part) => part.state === "approval-requested");
await denying.addToolApprovalResponse({ id: denied.approval.id, approved: false, reason: "not now" });
await denying.sendMessage();
results.denied = describe(denying);

const broken = new Chat("ring-broken");
await broken.sendMessage({ text: "break it" });
results.broken = describe(broken);
const refused = new Chat("ring-refused", { transport: transport({ model: "scripted:nothing" }) });
await refused.sendMessage({ text: "hello" });
results.refused = describe(refused);

// A stream that is left in the middle, and resumed by another chat.
const slow = await transport().sendMessages({
  chatId: "ring-slow", trigger: "submit-message", messageId: undefined, abortSignal: undefined,
  messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "slow" }] }],
});
const reader = slow.getReader();
for (;;) {
  const { value } = await reader.read();
  if (value.type === "text-delta") break;
}
await reader.cancel();
const resumed = await transport().reconnectToStream({ chatId: "ring-slow" });
const chunks = [];
const [one, two] = resumed.tee();
for await (const chunk of one) chunks.push(chunk.type);
let message;
for await (const value of readUIMessageStream({ stream: two })) message = value;
results.resumed = { chunks, id: message.id, text: message.parts.filter((part) => part.type === "text").map((part) => part.text) };
results.nothing = await transport().reconnectToStream({ chatId: "ring-slow" });
const late = new Chat("ring-slow");
await late.resumeStream();
results.late = describe(late);

const debate = new Chat("ring-debate", { transport: transport() });
debate.transport.body = { thread: { kind: "debate", models: ["scripted:debate"], maxRounds: 1 } };
await debate.sendMessage({ text: "Should a city close its centre to private cars?" });
results.debate = describe(debate);
console.log(JSON.stringify(results));
