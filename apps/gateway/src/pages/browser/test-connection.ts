import { element } from './draw.ts';
import { on } from './on.ts';
import { pastedKey } from './own-key.ts';
import { readEvents } from './read-events.ts';

// "Test it now": runs a free poll, and an MCP session with the pasted key. Answers are shown as text.

const place = document.querySelector<HTMLElement>('#test-connection');
const outcome = document.querySelector<HTMLElement>('#test-outcome');
const TIMEOUT_MS = 120_000;
const REVISION = '2025-11-25';

interface Finding {
  tone: 'good' | 'bad' | 'warn';
  content: (Node | string)[];
}

if (place && outcome) {
  place.hidden = false;
  connect('#test-poll', outcome, () => freePoll(place.dataset));
  connect('#test-mcp', outcome, mcpSession);
}

function connect(selector: string, outcome: HTMLElement, test: () => Promise<Finding>): void {
  const button = document.querySelector<HTMLButtonElement>(selector);
  // Where free polls are not offered, the page has no button for one.
  if (!button) return;
  on(button, 'click', async () => {
    button.disabled = true;
    outcome.replaceChildren(element('p', { class: 'muted' }, 'Waiting for the answer…'));
    try {
      show(outcome, await test());
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      show(outcome, { tone: 'bad', content: [`It did not work: ${reason}`] });
    } finally {
      button.disabled = false;
    }
  });
}

function show(outcome: HTMLElement, { tone, content }: Finding): void {
  outcome.replaceChildren(element('div', { class: 'notice', 'data-tone': tone }, element('p', {}, ...content)));
}

async function freePoll({ question = '', options = '[]' }: DOMStringMap): Promise<Finding> {
  const from = performance.now();
  const body = { question, options: JSON.parse(options) as string[], theme: 'free' };
  const answer = (await post('/api/quick-poll', body)) as { answer: string | null; page_url?: string };
  const took = ((performance.now() - from) / 1_000).toFixed(1);
  const says = `It works. “${question}” Answer: ${answer.answer ?? 'no winner'}, in ${took} s. `;
  const link = answer.page_url ? [element('a', { href: new URL(answer.page_url).pathname }, 'See the result')] : [];
  return { tone: 'good', content: [says, ...link] };
}

async function mcpSession(): Promise<Finding> {
  const key = pastedKey();
  if (key === '') return { tone: 'warn', content: ['Paste an API key above first; MCP sessions need one.'] };
  const headers = { authorization: `Bearer ${key}`, 'mcp-protocol-version': REVISION };
  const call = async (method: string, params: object): Promise<unknown> => {
    const message = (await post('/api/mcp', { jsonrpc: '2.0', id: 1, method, params }, headers)) as {
      result?: unknown;
      error?: { message: string };
    };
    if (message.error) throw new Error(message.error.message);
    return message.result;
  };
  const clientInfo = { name: 'connect-page', version: '1' };
  const hello = (await call('initialize', { protocolVersion: REVISION, capabilities: {}, clientInfo })) as {
    serverInfo: { name: string; version: string };
  };
  const { tools } = (await call('tools/list', {})) as { tools: { name: string }[] };
  const { name, version } = hello.serverInfo;
  const says = `It works. ${name} ${version} has ${tools.length} tools: ${tools.map((tool) => tool.name).join(', ')}.`;
  return { tone: 'good', content: [says] };
}

/** Returns the JSON body, or throws an error with the service's own message. */
async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream;q=0.5', ...headers },
    body: JSON.stringify(body),
    credentials: 'omit',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const answer = (await bodyOf(response).catch(() => null)) as { error?: unknown } | null;
  if (response.ok && answer !== null) return answer;
  throw new Error(messageOf(answer?.error) ?? `the service answered ${response.status}.`);
}

/** Errors of the MCP server are those of JSON-RPC. */
function messageOf(error: unknown): string | undefined {
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return typeof message === 'string' ? message : undefined;
}

/** The MCP server may answer with a stream of events; the last one is the answer. */
async function bodyOf(response: Response): Promise<unknown> {
  if (!response.body || !response.headers.get('content-type')?.startsWith('text/event-stream')) return response.json();
  let last: unknown = null;
  for await (const { data } of readEvents(response.body)) last = data;
  return last;
}
