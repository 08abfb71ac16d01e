import { LIMITS } from '@eloquentpoll/contracts';
import t from 'tap';
import { build } from '../fixtures/build.ts';

// slow: 3 s

const { app } = await build(t);

t.test('[§4.1-profiles-200, §4.1-profiles-names, §4.1-profiles-bundle] profiles are bundles of terms', async (t) => {
  const answer = await app.inject({ url: '/api/profiles' });
  t.equal(answer.statusCode, 200);
  const { default: byDefault, count, profiles } = answer.json();
  t.same(
    profiles.map(({ name }: { name: string }) => name),
    ['conservative', 'balanced', 'quick'],
  );
  t.equal(count, 3);
  t.match(
    profiles.find(({ name }: { name: string }) => name === byDefault),
    {
      name: 'balanced',
      preset: 'broad',
      confidence_threshold: LIMITS.confidence_threshold.default,
      max_cost_usd: LIMITS.max_cost_usd.default,
    },
    'the default profile is what a poll gets that names none',
  );
});

t.test('each profile is a poll that can be asked', async (t) => {
  const { app, keyWith } = await build(t);
  const { bearer } = await keyWith(10);
  for (const { name, description, ...terms } of (await app.inject({ url: '/api/profiles' })).json().profiles) {
    const payload = { question: 'Which of these is best?', options: ['A', 'B'], ...terms };
    const answer = await app.inject({ method: 'POST', url: '/api/poll/dry-run', headers: bearer, payload });
    t.match(answer.json(), { valid: true, estimates: { ...terms, within_budget: true } }, `${name}: ${description}`);
  }
});
