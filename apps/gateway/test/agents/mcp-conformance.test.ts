import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { request as ask, createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 25 s

// The official MCP conformance suites. A failure must be listed below with a reason;
// an entry that is not needed any more fails too.

const ITS_OWN_TOOL = "calls a tool that only the suite's example server has";
const ITS_OWN_CONTENT = "reads a resource or prompt that only the suite's example server has";
const NOT_DECLARED = 'needs a capability that we do not declare';

/** Scenarios that do not apply to this server. */
const NOT_OURS: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/^tools-call-/, ITS_OWN_TOOL],
  [/^json-schema-2020-12$/, ITS_OWN_TOOL],
  [/^http-custom-header-server-validation$/, 'needs a tool whose arguments are repeated in headers'],
  [/^elicitation-/, ITS_OWN_TOOL],
  [/^input-required-result-/, ITS_OWN_TOOL],
  [/^resources-(read|templates-read)/, ITS_OWN_CONTENT],
  [/^prompts-get/, ITS_OWN_CONTENT],
  [/^resources-(subscribe|unsubscribe)$/, NOT_DECLARED],
  [/^(completion-complete|logging-set-level)$/, NOT_DECLARED],
];

/** Single checks of applicable scenarios. */
const CHECKS_NOT_OURS: Readonly<Record<string, string>> = {
  'sep-2575-server-rejects-undeclared-capability': ITS_OWN_TOOL,
  'sep-2575-missing-capability-http-400': ITS_OWN_TOOL,
  'sep-2575-http-server-no-independent-requests-on-stream': ITS_OWN_TOOL,
  'sep-2575-server-no-log-without-loglevel': ITS_OWN_TOOL,
  'sep-2663-mrtr-synchronous-before-task-creation': ITS_OWN_TOOL,
  'sep-2663-server-returns-missing-capability-when-required': ITS_OWN_TOOL,
  'sep-2663-tasks-get-status-failed': ITS_OWN_TOOL,
  'sep-2663-tasks-get-status-input-required': ITS_OWN_TOOL,
  'sep-2663-tool-error-uses-completed-status': ITS_OWN_TOOL,
  'tasks-headers-tolerate-mcp-method-on-tools-call':
    'compares two answers of a tool; our equal says what is left to spend',
  'tasks-mrtr-partial-fulfillment': ITS_OWN_TOOL,
  'tasks-mrtr-tasks-update-resumes': ITS_OWN_TOOL,
  'tasks-result-type-complete-on-non-task-responses': ITS_OWN_TOOL,
  'tasks-server-directed-creation-no-hint': ITS_OWN_TOOL,
};

/** Scenarios that have to pass, with at least so many checks. */
const SUITES = [
  {
    name: 'mcp-conformance-2025',
    suite: import.meta.resolve('mcp-conformance-2025/package.json'),
    options: ['--suite', 'all'],
    passes: {
      'server-initialize': 1,
      ping: 1,
      'tools-list': 1,
      'resources-list': 1,
      'prompts-list': 1,
      'dns-rebinding-protection': 2,
    },
  },
  {
    name: 'mcp-conformance-2026',
    suite: import.meta.resolve('mcp-conformance-2026/package.json'),
    options: ['--requirements', '2025-11-25'],
    passes: { 'server-initialize': 2, ping: 2, 'tools-list': 3, 'dns-rebinding-protection': 2 },
  },
  {
    name: 'mcp-conformance-2026',
    suite: import.meta.resolve('mcp-conformance-2026/package.json'),
    options: ['--requirements', '2026-07-28'],
    passes: {
      'server-stateless': 24,
      'http-header-validation': 14,
      'tools-list': 4,
      caching: 7,
      'resources-list': 1,
      'prompts-list': 1,
      'dns-rebinding-protection': 2,
      'server-sse-multiple-streams': 1,
      'tasks-lifecycle': 6,
      'tasks-capability-negotiation': 4,
      'tasks-wire-fields': 3,
      'tasks-dispatch-and-envelope': 4,
      'tasks-request-headers': 2,
      'tasks-request-state-removal': 1,
    },
  },
] as const;

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'SKIPPED' | 'WARNING' | 'INFO';
  errorMessage?: string;
}

const server = await serveWithKey(t);
/** Entries that were needed, by pattern or check. */
const needed = new Set<string>();

for (const { name, suite, options, passes } of SUITES) {
  t.test(`[§4.6-mcp-transport, §A6-mcp-revisions] ${name} ${options.join(' ')}`, async (t) => {
    const scenarios = await run(t, suite, options);
    for (const [scenario, checks] of scenarios) {
      const whole = NOT_OURS.find(([pattern]) => pattern.test(scenario));
      for (const { id, errorMessage } of checks.filter(({ status }) => status === 'FAILURE')) {
        const [entry, why] = whole ?? [id, CHECKS_NOT_OURS[id]];
        needed.add(String(entry));
        if (why) t.comment(`${scenario}, ${id}: ${why}`);
        else t.fail(`${scenario}, ${id}: ${errorMessage}`);
      }
    }
    for (const [scenario, least] of Object.entries(passes)) {
      t.notOk(
        NOT_OURS.some(([pattern]) => pattern.test(scenario)),
        `${scenario} is ours`,
      );
      const succeeded = (scenarios.get(scenario) ?? []).filter(({ status }) => status === 'SUCCESS').length;
      t.ok(succeeded >= least, `${scenario}: ${succeeded} checks`);
    }
  });
}

t.test('every listed exception is still needed', async (t) => {
  for (const entry of [...NOT_OURS.map(([pattern]) => String(pattern)), ...Object.keys(CHECKS_NOT_OURS)])
    t.ok(needed.has(entry), entry);
});

/** Every scenario with its checks, as the suite reports them. It exits with an error if a check failed. */
async function run(t: Test, suite: string, options: readonly string[]): Promise<Map<string, Check[]>> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const cli = join(dirname(fileURLToPath(suite)), 'dist/index.js');
  const command = [cli, 'server', '--url', server, ...options, '--output-dir', folder];
  await promisify(execFile)(process.execPath, command, { maxBuffer: 64 * 1024 * 1024 }).catch(() => undefined);
  const scenarios = new Map<string, Check[]>();
  for (const name of await readdir(folder)) {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT.*$/, '');
    scenarios.set(scenario, JSON.parse(await readFile(join(folder, name, 'checks.json'), 'utf8')));
  }
  t.ok(scenarios.size > 30, `${scenarios.size} scenarios ran`);
  return scenarios;
}

/** Tools of the suite's example server that have an equal here: one that takes a while, and one that answers at once. */
const EQUALS: Readonly<Record<string, object>> = {
  slow_compute: {
    name: 'poll_question',
    arguments: { question: 'Which of these is the best choice?', options: ['A', 'B'] },
  },
  greet: { name: 'get_balance', arguments: {} },
};

/** A call of such a tool as a call of ours; everything else as it is. */
function withOurTool(body: Buffer, headers: IncomingHttpHeaders) {
  const message = /"tools\/call"/.test(String(body)) ? JSON.parse(String(body)) : null;
  const ours = EQUALS[message?.params?.name];
  if (!ours) return { body, headers };
  const params = { ...message.params, ...ours };
  const changed = Buffer.from(JSON.stringify({ ...message, params }));
  const named = headers['mcp-name'] === message.params.name ? { 'mcp-name': params.name } : {};
  return { body: changed, headers: { ...headers, ...named, 'content-length': String(changed.length) } };
}

/** The suites send no credentials, so a proxy before the gateway adds them. */
async function serveWithKey(t: Test): Promise<string> {
  const proxy = createServer();
  proxy.listen(0, 'localhost');
  await once(proxy, 'listening');
  const origin = `http://localhost:${(proxy.address() as AddressInfo).port}`;
  const { app, context, keyWith } = await build(t, { baseUrl: origin });
  const inside = await app.listen({ host: '127.0.0.1', port: 0 });
  // Long enough for a task to be seen working, by another process on a busy machine.
  await standInWorker(t, context, {
    get holdUntil() {
      return sleep(3_000);
    },
  });
  const { bearer } = await keyWith(5);
  proxy.on('request', (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    void buffer(request).then((body) => {
      const ours = withOurTool(body, headers);
      const onward = ask(new URL(url, inside), { method, headers: { ...ours.headers, ...bearer } }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      onward.end(ours.body);
    });
  });
  t.teardown(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `${origin}/api/mcp`;
}
