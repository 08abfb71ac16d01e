import { GATEWAY_SETTINGS } from '@eloquentpoll/gateway/settings';
import t from 'tap';
import { NO_RATE_LIMITS } from '../src/fixture/no-rate-limits.ts';

t.test('every budget of the gateway is out of reach in an experiment', async (t) => {
  const { reader } = GATEWAY_SETTINGS.RATE_LIMITS;
  const policies = Object.entries(reader.read(NO_RATE_LIMITS)!);
  t.ok(policies.length > 10, 'the gateway has budgets');
  for (const [name, { windows }] of policies) t.same(windows, [{ limit: 999_999_999, seconds: 3_600 }], name);
});
