// The client of npm: tools, progress, a cancelled call, an error, a form and resources, over HTTP or a process.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const [address, token, model, tool, text, ...command] = process.argv.slice(2);
const client = new Client({ name: 'ring', version: '1' }, { capabilities: { elicitation: {} } });
const forms = [];
client.setRequestHandler(ElicitRequestSchema, async (request) => {
  forms.push(request.params.message);
  return { action: 'accept', content: { decision: 'allow' } };
});
const transport = command.length
  ? new StdioClientTransport({ command: command[0], args: command.slice(1) })
  : new StreamableHTTPClientTransport(new URL(address), { requestInit: { headers: { authorization: `Bearer ${token}` } } });
await client.connect(transport);

const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const reports = [];
const reply = await call('send_message', { text: 'Hi', model }, { onprogress: (report) => reports.push(report.message) });
const thread = reply.structuredContent.thread;
const permitted = await call('send_message', { text, model, tools: [tool] });
const refused = await call('read_thread', { thread: 'nobody' });
const listed = await call('list_threads', { limit: 1 });
let unknown = '';
try { await call('dance', {}); } catch (error) { unknown = `${error.code}`; }

const controller = new AbortController();
let cancelled = '';
try {
  await call('send_message', { text: 'wait', model, title: 'Waiting' },
    { signal: controller.signal, onprogress: () => controller.abort('enough') });
} catch (error) { cancelled = `${error.message ?? error}`; }
const running = (await call('list_threads', { status: 'running' })).structuredContent.items;
const stopped = await call('stop_thread', { thread: running[0].id });

const resources = (await client.listResources()).resources.map((resource) => resource.uri);
const templates = (await client.listResourceTemplates()).resourceTemplates.map((template) => template.uriTemplate);
const read = await client.readResource({ uri: `antiphon://threads/${thread}` });
const session = transport.sessionId ?? null;
if (transport.terminateSession) await transport.terminateSession();
await client.close();
console.log(JSON.stringify({
  server: client.getServerVersion(), tools, reports, reply, permitted, refused, listed, unknown, forms, cancelled,
  running: running.map((row) => row.title), stopped, resources, templates, read, thread, session: session !== null,
}));
