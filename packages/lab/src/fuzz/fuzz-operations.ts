import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';
import fc from 'fast-check';
import { createFixtures, type Fixtures } from './fixtures.ts';
import type { FuzzedService } from './fuzzed-service.ts';
import { judgeOf } from './judge-answer.ts';
import { Description, type FuzzedOperation, operationsNamed } from './operations.ts';
import { type FuzzRequest, requestsTo } from './requests.ts';
import { ListedTool } from './rpc-bodies.ts';
import { type SecretWatch, secretWatch } from './secrets.ts';
import { asCurl, type FuzzAnswer, type Sender, type Sent } from './send-request.ts';
import { stripeSignature } from './stripe-signature.ts';

// Sends each operation the requested number of inputs, several operations at a time. fast-check shrinks each finding,
// and it is shown as a command that repeats it.

export interface Tried {
  readonly operation: string;
  readonly inputs: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly slowestMs: number;
}

export interface Finding {
  readonly where: string;
  readonly problem: string;
  /** How to reproduce it by hand. */
  readonly reproduction: string;
}

/** A finding that no single request shows. */
export const afterRun = (problem: string, reproduction = 'the whole run, by its seed'): Finding => ({
  where: 'afterwards',
  problem,
  reproduction,
});

export interface OperationFindings {
  readonly tried: readonly Tried[];
  readonly findings: readonly Finding[];
}

export interface InputPlan {
  readonly seed: number;
  readonly runs: number;
  /** Part of an operation's name. */
  readonly only?: string | undefined;
  readonly onInput?: (inputs: number) => void;
}

const AT_ONCE = 6;

export interface FuzzSetup {
  readonly service: FuzzedService;
  readonly sender: Sender;
  readonly fixtures: Fixtures;
  readonly description: Description;
  readonly watch: SecretWatch;
}

export async function createSetup(service: FuzzedService, sender: Sender): Promise<FuzzSetup> {
  const fixtures = await createFixtures(service, sender);
  const { text } = await sender.send({ method: 'GET', target: '/api/openapi.json', headers: {}, body: null });
  return {
    service,
    sender,
    fixtures,
    description: readJson(Description, text),
    watch: secretWatch(service.settingSecrets, fixtures.accountIds),
  };
}

export async function fuzzOperations(
  setup: FuzzSetup,
  { seed, runs, only, onInput }: InputPlan,
): Promise<OperationFindings> {
  const { description, watch } = setup;
  const around = { description, tools: await listTools(setup) };
  const judge = judgeOf(description, watch.inAnswer);
  const findings: Finding[] = [];
  const tried: Tried[] = [];
  let inputs = 0;

  async function fuzz(operation: FuzzedOperation): Promise<void> {
    const statuses: Record<string, number> = {};
    let slowestMs = 0;
    let own = 0;
    let last: { sent: Sent; problem: string } | null = null;
    const property = fc.asyncProperty(requestsTo(operation, around), async (request) => {
      own += 1;
      onInput?.(++inputs);
      const sent = await completed(request, setup);
      const answer = await setup.sender.send(sent).catch((error: Error) => error);
      const problem = answer instanceof Error ? `no answer: ${answer.message}` : judge(sent, answer);
      if (!(answer instanceof Error)) {
        statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
        slowestMs = Math.max(slowestMs, answer.tookMs);
      }
      if (problem === null) return;
      last = { sent, problem: `${problem}${answer instanceof Error ? '' : shown(answer)}` };
      throw new Error(problem);
    });
    const { failed, errorInstance } = await fc.check(property, { seed, numRuns: runs, verbose: 0 });
    const found = last as { sent: Sent; problem: string } | null;
    if (failed)
      findings.push({
        where: operation.name,
        problem: found?.problem ?? `the fuzzer itself failed: ${errorInstance}`,
        reproduction: found ? asCurl(found.sent, setup.service.origin) : 'its seed',
      });
    tried.push({ operation: operation.name, inputs: own, statuses, slowestMs: Math.round(slowestMs) });
  }

  const waiting = operationsNamed(description, only);
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) await fuzz(next);
    }),
  );
  return { tried: tried.toSorted((a, b) => a.operation.localeCompare(b.operation)), findings };
}

const shown = ({ status, text }: FuzzAnswer): string => ` (${status}: ${text.slice(0, 300)})`;

async function completed(request: FuzzRequest, { fixtures, service }: FuzzSetup): Promise<Sent> {
  const { method, target, headers, credential, body } = request;
  const filled: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...headers, ...(await fixtures.credential(credential)) }))
    filled[name] = await fixtures.fill(value);
  const text = body?.includes('{{') ? Buffer.from(await fixtures.fill(body.toString('latin1')), 'latin1') : body;
  if (filled['stripe-signature'] === '{{signed}}') filled['stripe-signature'] = stripeSignature(service, text);
  return { method, target: await fixtures.fill(target), headers: filled, body: text };
}

const ToolList = Type.Object({ result: Type.Object({ tools: Type.Array(ListedTool) }) });

export async function listTools({ sender, fixtures }: FuzzSetup): Promise<ListedTool[]> {
  const headers = {
    ...(await fixtures.credential('key')),
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }));
  const { text } = await sender.send({ method: 'POST', target: '/api/mcp', headers, body });
  return readJson(ToolList, text.replace(/^[^{]*data: ?/s, '')).result.tools;
}
