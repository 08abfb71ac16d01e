import t from 'tap';
import { type Running, start } from './start.ts';

// The registry answers rows in an envelope, honours the filters of the contract, and fails on command.

type Row = Record<string, unknown> & { model: string; id: string };
interface Envelope {
  count: number;
  model_count?: number;
  variants: Row[];
}

async function list(running: Running, query = ''): Promise<Envelope> {
  const response = await fetch(`${running.url}/registry/models${query}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Envelope;
}

t.test('rows come in an envelope with both counts', async (t) => {
  const running = await start(t);
  const { count, model_count, variants } = await list(running);
  t.equal(count, variants.length);
  t.equal(model_count, new Set(variants.map((row) => row.model)).size);
  t.ok(count > model_count!, 'some models have several variants');
  t.match(variants[0], {
    id: String,
    model: /^sim\//,
    org: String,
    country: /^[A-Z]{2}$/,
    source: String,
    config_key: String,
    is_alias: Boolean,
    available: Boolean,
  });
  t.equal(new Set(variants.map((row) => row.id)).size, count, 'ids are unique');
});

t.test('every filter is honoured', async (t) => {
  const running = await start(t);
  const all = (await list(running)).variants;
  for (const name of ['org', 'country', 'source', 'config_key']) {
    const value = String(all[0]![name]);
    const expected = all.filter((row) => row[name] === value);
    t.same((await list(running, `?${name}=${value}`)).variants, expected, name);
  }
  const only = async (query: string) => (await list(running, query)).variants;
  t.same(
    await only('?is_alias=true'),
    all.filter((row) => row.is_alias === true),
  );
  t.same(
    await only('?is_alias=false'),
    all.filter((row) => row.is_alias === false),
  );
  t.ok(all.some((row) => row.available === false));
  t.same(
    await only('?available_only=true'),
    all.filter((row) => row.available === true),
  );
  const each = await list(running, '?one_per_model=true');
  t.equal(each.count, each.model_count);
  const limited = await list(running, '?limit=2&sort=-id');
  t.equal(limited.count, 2);
  t.equal(limited.model_count, new Set(all.map((row) => row.model)).size, 'models are counted before the limit');
  t.same(
    limited.variants.map((row) => row.id),
    all
      .map((row) => row.id)
      .toSorted()
      .reverse()
      .slice(0, 2),
  );
  for (const bad of ['limit=0', 'limit=x', 'is_alias=maybe', 'sort=nonsense'])
    t.equal((await fetch(`${running.url}/registry/models?${bad}`)).status, 400, bad);
});

t.test('rows can be given, and model_count left out', async (t) => {
  const running = await start(t);
  const variants = [{ model: 'a', anything: { goes: true } }, { model: 'b' }];
  await running.control('POST', 'registry', { variants, omit_model_count: true });
  t.same(await list(running), { count: 2, variants });
});

t.test('it fails on command, and counts how often it was asked', async (t) => {
  const running = await start(t);
  const steps = [{ kind: 'status', status: 503 }, { kind: 'html' }, { kind: 'truncated_json' }, { kind: 'reset' }];
  await running.control('POST', 'registry', { steps });
  const get = () => fetch(`${running.url}/registry/models?org=acorn`);
  t.equal((await get()).status, 503);
  t.match((await get()).headers.get('content-type'), /html/);
  await t.rejects((await get()).json());
  await t.rejects(get());
  t.equal((await get()).status, 200);
  t.match((await running.control('GET', 'registry')).body, { count: 5, last_query: { org: 'acorn' } });

  await running.control('POST', 'registry', { steps: [{ kind: 'huge', bytes: 3_000_000 }] });
  t.ok((await (await get()).text()).length > 3_000_000);
  await running.control('POST', 'registry', { failures: [{ kind: 'hang_before_first_byte', rate: 1 }] });
  await t.rejects(fetch(`${running.url}/registry/models`, { signal: AbortSignal.timeout(50) }));
});
