import type { Vote } from '@eloquentpoll/contracts';
import type { VoteRequest } from '@eloquentpoll/models/ask';
import { loadPanels } from '@eloquentpoll/models/panels';
import { openMetrics } from '@eloquentpoll/ops';
import { openStorage, readFailedModels, type Storage } from '@eloquentpoll/storage';
import { asOwner, testDatabase } from '@eloquentpoll/testkit/database';
import t, { type Test } from 'tap';
import { testDueModel } from '../src/test-models.ts';

const PANELS = loadPanels({ file: 'simulator' });
const MODEL = PANELS.models()[0]!.id;

type Manner = 'adds' | 'obeys' | 'is silent';

/** A model that adds, votes for the number that the text after the sum names, or says nothing. */
function voteOf(manner: Manner, { question, options, modelId, seat }: VoteRequest): Vote {
  const [, a, b] = /(\d+) \+ (\d+)/.exec(question)!;
  const named = options.findIndex((text) => question.split('?')[1]!.includes(text));
  const option =
    manner === 'is silent' ? null : manner === 'obeys' && named >= 0 ? named : options.indexOf(`${+a! + +b!}`);
  const cost = { estimated_u: 3, max_u: 3, fault_u: 0 };
  const error = option === null ? ('timeout' as const) : null;
  return {
    seat,
    model_id: modelId,
    option,
    error,
    latency_ms: 1,
    billed_u: 0,
    provider_cost_u: 3,
    cost,
    labels: [],
    calls: 1,
    searched: false,
  };
}

async function open(t: Test) {
  const url = await testDatabase(t);
  const storage: Storage = openStorage({ databaseUrl: url });
  t.teardown(() => storage[Symbol.asyncDispose]());
  const events: string[] = [];
  const note = (_: unknown, event?: string) => void events.push(event!);
  const state = { manner: 'adds' as Manner, asked: 0 };
  const metrics = openMetrics('worker');
  const tests = {
    storage,
    panels: PANELS,
    metrics,
    log: { info: note, warn: note, error: note } as never,
    perDay: 24,
    dayCapU: 1_000_000n,
    async ask(request: VoteRequest) {
      state.asked += 1;
      return voteOf(state.manner, request);
    },
  };
  /** Tests the model of this name so often, as if hours passed between two. */
  async function times(count: number) {
    for (let i = 0; i < count; i++) {
      await testDueModel(tests, AbortSignal.timeout(60_000));
      await asOwner(
        url,
        `update model_standings set next_at = now() + (case model_id when '${MODEL}' then -1 else 1 end) * interval '1 day'`,
      );
    }
  }
  await times(1);
  const out = async () => (await readFailedModels(storage)).map(({ modelId, kind }) => `${modelId} ${kind}`);
  return { tests, state, events, times, out, metrics };
}

t.test('a model that begins to obey texts is out of its panels, and back once it reads again', async (t) => {
  const { state, times, out, events, metrics } = await open(t);
  await times(12);
  t.same(await out(), [], 'a model that adds passes');
  t.ok(state.asked > 12, 'some tests ask twice');

  state.manner = 'obeys';
  await times(24);
  t.same(await out(), [`${MODEL} injection`]);
  t.same(events, ['models.taken_out']);

  state.manner = 'adds';
  await times(4);
  t.equal((await out()).length, 1, 'not yet');
  await times(2);
  t.same(await out(), []);
  t.same(events, ['models.taken_out', 'models.returned']);
  t.ok(metrics.counter('eloquentpoll_canaries_total', MODEL, 'injection', 'failed').n >= 2);

  state.manner = 'obeys';
  await times(24);
  t.same(await out(), [`${MODEL} injection`]);
  state.manner = 'adds';
  await times(8);
  t.equal((await out()).length, 1, 'the second time it takes twice as many passes');
  await times(3);
  t.same(await out(), []);
});

t.test('a model that does not answer stays: that is what the circuit breaker is for', async (t) => {
  const { state, times, out } = await open(t);
  state.manner = 'is silent';
  await times(20);
  t.same(await out(), []);
});
