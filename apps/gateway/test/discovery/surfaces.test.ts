import t from 'tap';
import { SURFACES } from '../../src/discovery/documents/surfaces.ts';
import { build } from '../fixtures/build.ts';

// slow: 3 s

const { app } = await build(t);
const list = (payload?: object) =>
  app.inject({ method: 'POST', url: '/api/tools/list_surfaces', ...(payload && { payload }) });
const get = (payload: object) => app.inject({ method: 'POST', url: '/api/tools/get_surface', payload });

t.test(
  '[§4.7-surfaces, §2.13-pattern-id, §2.13-category, §2.13-user-types, §2.13-description, §2.13-user-story, §2.13-artifacts, §2.13-detection-rule, §2.13-standard-refs] the surfaces, each with what realises it',
  async (t) => {
    const surfaces = (await app.inject({ url: '/api/surfaces' })).json();
    t.same(surfaces, SURFACES);
    const ids = SURFACES.map(({ pattern_id }) => pattern_id);
    t.equal(new Set(ids).size, ids.length);
    for (const { pattern_id, artifacts, user_types, standard_refs, category } of SURFACES) {
      t.match(pattern_id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
      t.ok(artifacts.length > 0 && user_types.length > 0, pattern_id);
      if (category === 'standard' && pattern_id !== 'human-pages') t.ok(standard_refs?.length, pattern_id);
      for (const artifact of artifacts) {
        const answer = await app.inject({ method: 'OPTIONS', url: artifact });
        t.equal(answer.statusCode, 204, `${pattern_id} has ${artifact}`);
      }
    }
  },
);

t.test('[§4.7-tool-list-surfaces] they are listed by category, user and text', async (t) => {
  t.same((await list()).json(), { surfaces: SURFACES, count: SURFACES.length, total: SURFACES.length });
  t.same((await list({})).json(), (await list()).json());
  const speculative = SURFACES.filter(({ category }) => category === 'speculative');
  t.same((await list({ category: 'speculative' })).json().surfaces, speculative);
  for (const { user_types } of (await list({ user_type: 'human' })).json().surfaces) t.ok(user_types.includes('human'));
  t.match((await list({ query: 'LINKSET' })).json().surfaces, [{ pattern_id: 'api-catalog' }]);
  t.same((await list({ query: 'nothing like it' })).json(), { surfaces: [], count: 0, total: 0 });
  const page = (await list({ limit: 2, offset: 1 })).json();
  t.same(page, { surfaces: SURFACES.slice(1, 3), count: 2, total: SURFACES.length });
  for (const wrong of [
    { category: 'new' },
    { user_type: 'robot' },
    { limit: 0 },
    { limit: '5' },
    { offset: -1 },
    { query: 1 },
    [],
  ])
    t.match((await list(wrong)).json(), { code: 'validation_error' }, JSON.stringify(wrong));
});

t.test('[§4.7-tool-get-surface] one is found by its id', async (t) => {
  for (const surface of SURFACES) t.same((await get({ pattern_id: surface.pattern_id })).json(), { surface });
  for (const wrong of [{}, { pattern_id: 1 }, { pattern_id: '' }])
    t.match((await get(wrong)).json(), { code: 'validation_error' }, JSON.stringify(wrong));
  for (const unknown of ['nope', '__proto__', 'constructor'])
    t.match((await get({ pattern_id: unknown })).json(), { code: 'surface_not_found' }, unknown);
});
