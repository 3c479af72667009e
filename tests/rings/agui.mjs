// HttpAgent of @ag-ui/client against a server: prints what it has got, as JSON.
import { readFileSync } from "node:fs";
import { HttpAgent } from "@ag-ui/client";

const [address, token, model] = process.argv.slice(2);
const agent = (threadId, settings = {}) => {
  const made = new HttpAgent({ url: `${address}/agui`, headers: { Authorization: `Bearer ${token}` }, threadId });
  made.settings = { model, tools: ["bake"], consent: { mode: "ask" }, ...settings };
  return made;
};

// Run an agent, and describe the messages, the events and the end of the run.
const run = async (made, parameters = {}) => {
  const types = [];
  let finished = null;
  let failed = null;
  const onEvent = ({ event }) => {
    if (types.at(-1) !== event.type) types.push(event.type);
    if (event.type === "RUN_FINISHED") finished = event;
    if (event.type === "RUN_ERROR") failed = event;
  };
  try {
    const result = await made.runAgent({ forwardedProps: made.settings, ...parameters }, { onEvent });
    const messages = result.newMessages.map(({ id, role, content, toolCalls, name }) => ({
      id, role, content, name, calls: (toolCalls ?? []).map((call) => [call.function.name, call.function.arguments]),
    }));
    return { messages, types, finished, failed, state: made.state };
  } catch (error) {
    return { types, error: error.message, status: error.status };
  }
};
const say = (made, id, content) => made.addMessage({ id, role: "user", content });
const results = {};

const chat = agent("ring-chat");
say(chat, "q1", "hello");
results.text = await run(chat);
say(chat, "q2", "bake a cake");
results.interrupt = await run(chat);
results.pending = chat.pendingInterrupts.map((interrupt) => interrupt.id);
const resume = chat.pendingInterrupts.map(({ id }) => ({
  interruptId: id, status: "resolved", payload: { approved: true },
}));
results.resumed = await run(chat, { resume });
results.history = chat.messages.map((message) => message.id);
say(chat, "q3", "bake again");
await run(chat);
const cancel = chat.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "cancelled" }));
results.denied = await run(chat, { resume: cancel });

const other = agent("ring-chat");
results.attached = await run(other);
results.attachedMessages = other.messages.map((message) => message.id);

const broken = agent("ring-broken");
say(broken, "q1", "break it");
results.error = await run(broken);
const refused = agent("ring-refused", { model: "scripted:nothing" });
say(refused, "q1", "hello");
results.refused = await run(refused);
const stranger = new HttpAgent({ url: `${address}/agui`, threadId: "ring-chat" });
results.stranger = await run(stranger);

const task = agent("ring-run", JSON.parse(readFileSync(0, "utf8")));
delete task.settings.tools;
say(task, "q1", "Paint the wall");
results.question = await run(task);
const answer = task.pendingInterrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload: "light" }));
results.answered = await run(task, { resume: answer });

const debate = agent("ring-debate");
debate.settings = { kind: "debate", models: ["scripted:debate"], maxRounds: 1 };
say(debate, "q1", "Should a city close its centre to private cars?");
results.debate = await run(debate);
console.log(JSON.stringify(results));
