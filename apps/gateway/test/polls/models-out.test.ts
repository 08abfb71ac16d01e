import t from 'tap';
import { build } from '../fixtures/build.ts';

// Models that failed their test questions are not asked, whatever way a poll comes in.

const BODY = { question: 'Which of these is it?', options: ['A', 'B'], preset: 'broad' };

t.test('a model that is out of its panels has no seat in new polls, and pages say why', async (t) => {
  const { app, keyWith, asOwner, context } = await build(t);
  const { bearer } = await keyWith(10);
  const all = context.panels.panel('broad').models.map(({ id }) => id);
  const out = all[0]!;
  await asOwner(`insert into model_standings (model_id, failed, failed_at) values ('${out}', 'injection', now())`);

  const estimate = await app.inject({ url: '/api/poll/estimate?preset=broad&options=2' });
  t.equal(estimate.json().models.roster_size, all.length - 1);
  const started = await app.inject({ method: 'POST', url: '/api/polls', headers: bearer, payload: BODY });
  t.equal(started.statusCode, 202);
  const spec = await context.storage.db.selectFrom('polls').select('spec').executeTakeFirstOrThrow();
  t.same(spec.spec.seats.map(({ model_id }) => model_id).sort(), all.filter((id) => id !== out).sort());
  const page = await app.inject({ url: '/models' });
  t.match(page.body, /Not asked at present: it followed texts inside questions/);

  const chosen = { ...BODY, preset: undefined, models: all.slice(0, 3) };
  const custom = await app.inject({ method: 'POST', url: '/api/poll/dry-run', headers: bearer, payload: chosen });
  t.equal(custom.json().estimates.total_models, 3, 'callers get what they choose');
});

t.test('while Postgres cannot be read, what was read last counts', async (t) => {
  const { app, context, asOwner } = await build(t);
  const all = context.panels.panel('fast').models;
  await asOwner(`insert into model_standings (model_id, failed, failed_at) values ('${all[0]!.id}', 'known', now())`);
  const size = async () =>
    (await app.inject({ url: '/api/poll/estimate?preset=fast&options=2' })).json().models.roster_size;
  t.equal(await size(), all.length - 1);
  await asOwner('alter table model_standings rename to gone');
  t.equal(await size(), all.length - 1);
});
