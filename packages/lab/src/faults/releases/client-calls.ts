import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { anyQuestion } from '../../fixture/polls.ts';
import { chance } from '../../terminal/chance.ts';
import type { CallerAccount } from '../caller-options.ts';
import type { Fleet, Slot } from '../fleet.ts';
import type { Recorder } from '../operations.ts';
import type { Upgrade } from './upgrade.ts';

// The published clients of both releases, as behind a load balancer: each request goes to any ready gateway, of either
// release. What one client asked, the other asks again or reads, and it must get the same answer.

type ClientModule = typeof import('@eloquentpoll/client/eloquentpoll.ts');
type Preset = import('@eloquentpoll/client/eloquentpoll.ts').Preset;
type Client = InstanceType<ClientModule['EloquentPoll']>;

export interface ClientCalls {
  /** By the name of the client's release. */
  readonly made: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
  finish(): Promise<void>;
}

export interface ClientCallsOptions {
  upgrade: Upgrade;
  fleet: Fleet;
  accounts: readonly CallerAccount[];
  recorder: Recorder;
  seed: string;
}

const LOOPS_PER_CLIENT = 2;
const BETWEEN_CALLS_MS = 40;
const CALL_MS = 60_000;

export async function startClientCalls(options: ClientCallsOptions): Promise<ClientCalls> {
  const { upgrade, fleet, accounts, recorder, seed } = options;
  const releases = [upgrade.from, upgrade.to];
  const modules = await Promise.all(
    releases.map(async ({ client }) => (await import(pathToFileURL(client).href)) as ClientModule),
  );
  const made = Object.fromEntries(releases.map(({ name }) => [name, 0]));
  const failures: string[] = [];
  let over = false;

  async function loop(own: number, n: number): Promise<void> {
    const draw = chance(`${seed}|client ${own} ${n}`);
    const throughBalancer = (url: string, init: RequestInit): Promise<Response> =>
      fetch(url.replace(ANY_GATEWAY, draw.pick(readyGateways(fleet))), init);
    const account = draw.pick(accounts);
    const clients = modules.map(
      ({ EloquentPoll }) =>
        new EloquentPoll({ baseUrl: ANY_GATEWAY, apiKey: account.key, fetch: throughBalancer, pace: false }),
    );
    const client = clients[own]!;
    const other = clients[1 - own]!;
    while (!over) {
      const { question, options, panel } = anyQuestion(draw);
      const key = randomUUID();
      const operation = recorder.begin('async', account.id, key);
      try {
        const call = draw.pick(CALLS);
        const asked: Asked = { question, options: [...options], preset: panel as Preset };
        for (const id of await call(client, other, asked, { idempotencyKey: key, timeoutMs: CALL_MS }))
          operation.named.add(id);
        recorder.end(operation, 'ok');
        made[releases[own]!.name]! += 1;
      } catch (error) {
        failures.push(`client of ${releases[own]!.name}: ${String(error)}`);
      }
      await sleep(BETWEEN_CALLS_MS);
    }
  }

  const loops = releases.flatMap((_, own) => Array.from({ length: LOOPS_PER_CLIENT }, (_, n) => loop(own, n)));
  const done = Promise.all(loops).then(() => undefined);
  done.catch(() => undefined);
  return {
    made,
    failures,
    finish() {
      over = true;
      return done;
    },
  };
}

const ANY_GATEWAY = 'http://any.gateway';

/** As a load balancer sees them: a gateway that is about to end gets no new requests. */
function readyGateways({ slots }: Fleet): string[] {
  const ready = ({ role, app, isFaulted }: Slot) => role === 'gateway' && app?.hasEnded === false && !isFaulted;
  return slots.filter(ready).map(({ links }) => `http://127.0.0.1:${links.callers!.port}`);
}

type Asked = Parameters<Client['ask']>[0];
type Terms = { idempotencyKey: string; timeoutMs: number };
/** Returns the ids in the answers. */
type Call = (client: Client, other: Client, asked: Asked, terms: Terms) => Promise<string[]>;

const CALLS: readonly Call[] = [
  async (client, other, asked, terms) => {
    const answer = await client.ask(asked, terms);
    const again = await other.ask(asked, terms);
    mustBeSame(answer, again);
    mustBeSame((await other.result(answer.poll_id)).poll_id, answer.poll_id);
    return [answer.poll_id];
  },
  async (client, other, asked, terms) => {
    const session = await client.begin(asked, terms);
    const [answer, seen] = await Promise.all([
      session.wait({ timeoutMs: CALL_MS }),
      other.session(session.id).wait({ timeoutMs: CALL_MS }),
    ]);
    mustBeSame(answer, seen);
    const { polls } = await other.statuses([session.id]);
    mustBeSame(polls.length, 1);
    return [session.id, answer.poll_id];
  },
  async (client, other, asked, terms) => {
    let last = '';
    for await (const { event, data } of client.stream(asked, terms)) if (event === 'complete') last = data.poll_id;
    mustBeSame((await other.result(last)).poll_id, last);
    return [last];
  },
];

function mustBeSame(one: unknown, two: unknown): void {
  const [a, b] = [JSON.stringify(one), JSON.stringify(two)];
  if (a !== b) throw new Error(`two clients got different answers: ${a} and ${b}`);
}
