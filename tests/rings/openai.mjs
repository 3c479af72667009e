// The API of OpenAI with the npm package `openai`: node openai.mjs ADDRESS TOKEN MODEL TOOL prints what it got as JSON.
import OpenAI from "openai";

const [address, apiKey, model, tool] = process.argv.slice(2);
const client = new OpenAI({ apiKey, baseURL: `${address}/v1` });
const add = JSON.parse(tool);
const ask = (content) => [{ role: "user", content }];
const result = {};

result.models = (await client.models.list()).data.map(({ id }) => id);
result.text = (await client.chat.completions.create({ model, messages: ask("Hi") })).choices[0].message.content;

result.streamed = "";
const options = { stream: true, stream_options: { include_usage: true } };
for await (const chunk of await client.chat.completions.create({ model, messages: ask("Hi"), ...options })) {
  result.streamed += chunk.choices[0]?.delta?.content ?? "";
  result.tokens = chunk.usage?.total_tokens;
}

const tools = [{ type: "function", function: add }];
const runner = client.chat.completions.runTools({
  model, messages: ask("add 1 and 2"), stream: true,
  tools: [{ type: "function", function: { ...add, parse: JSON.parse, function: ({ a, b }) => String(a + b) } }],
});
result.run = await runner.finalContent();
const messages = ask("add 1 and 2");
const first = (await client.chat.completions.create({ model, messages, tools })).choices[0];
messages.push(first.message, { role: "tool", tool_call_id: first.message.tool_calls[0].id, content: "3" });
const second = (await client.chat.completions.create({ model, messages, tools })).choices[0];
result.tools = [first.finish_reason, second.message.content];

const failing = async (work) => {
  try {
    await work();
  } catch (error) {
    return [error.constructor.name, error.status ?? null, error.code ?? null];
  }
};
result.failure = await failing(() => client.chat.completions.create({ model, messages: ask("fail") }));
result.refused = await failing(() => client.chat.completions.create({ model, messages: ask("Hi"), n: 2 }));
const stranger = new OpenAI({ apiKey: "wrong", baseURL: `${address}/v1` });
result.stranger = await failing(() => stranger.models.list());
result.broken = await failing(async () => {
  for await (const _ of await client.chat.completions.create({ model, messages: ask("break"), stream: true }));
});

const response = await client.responses.create({ model, input: "Hi" });
const next = await client.responses.create({ model, input: "Again", previous_response_id: response.id });
result.responses = [response.output_text, next.output_text];
result.events = [];
for await (const event of await client.responses.create({ model, input: "Hi", stream: true })) result.events.push(event.type);
const stream = client.responses.stream({ model, input: "Hi" });
result.final = (await stream.finalResponse()).output_text;

console.log(JSON.stringify(result));
