import { randomUUID } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import { presetPanel } from '../../fixture/voting-panel.ts';
import { type DayUser, inMicroUsd } from '../day-user.ts';
import { type Activity, anyPerson, type DayWorld, judgeAnswer, newQuestion } from '../world.ts';

const NewKey = Type.Object({ id: Type.String(), key: Type.String() });
const NewEndpoint = Type.Object({ endpoint_id: Type.String(), secret: Type.String() });
const Endpoints = Type.Object({
  endpoints: Type.Array(Type.Object({ endpoint_id: Type.String(), description: Type.String() })),
});
const Secret = Type.Object({ secret: Type.String() });

/** A key with a very low limit: it is refused in time, never overspends, and is then revoked. */
export const spendKeyLimit: Activity = async (world) => {
  const by = anyPerson(world);
  const limitUsd = 0.15;
  const way = 'key limit';
  const body = { label: 'limited', limit_usd: limitUsd };
  const made = await world.call({ way, path: '/api/keys', body, by, expect: [201] });
  if (!made.isExpected) return;
  const { id, key } = made.read(NewKey);
  const holder: DayUser = { ...by, key, chargedU: 0, results: [], deletions: new Map() };
  for (let turn = 0; turn < 3; turn++) {
    const asked = newQuestion(world);
    const poll = await world.call({
      way,
      path: '/api/poll',
      body: { ...asked, preset: 'fast', max_cost_usd: 0.1 },
      by: holder,
      expect: turn === 0 ? [200] : [200, 402, 403],
    });
    if (poll.status === 200)
      judgeAnswer(world, way, { asked, panel: presetPanel('fast'), answer: poll.value, by: holder });
    else break;
  }
  by.chargedU += holder.chargedU;
  world.diary.judge(
    way,
    holder.chargedU > inMicroUsd(limitUsd) ? [`a key spent ${holder.chargedU} of ${limitUsd} USD`] : [],
  );
  const path = `/api/keys/${id}`;
  const lower = await world.call({ way, method: 'PATCH', path, body: { limit_usd: 0.000_001 }, by });
  if (!lower.isExpected) return;
  const asked = newQuestion(world);
  await world.call({ way, path: '/api/poll', body: asked, by: holder, expect: [402, 403] });
  await world.call({ way, method: 'DELETE', path, by });
  await world.call({ way, path: '/api/poll', body: asked, by: holder, expect: [401] });
};

const ENDPOINTS = '/api/webhook-endpoints';

/** Looks for an endpoint that may have been created although its creation was refused for a moment; null if there is none. */
async function findEndpoint({ call }: DayWorld, by: DayUser, description: string) {
  const listed = await call({ way: 'webhook endpoint', path: ENDPOINTS, by });
  const found = listed.isExpected
    ? listed.read(Endpoints).endpoints.find((endpoint) => endpoint.description === description)
    : undefined;
  if (!found) return null;
  const { endpoint_id } = found;
  const kept = await call({ way: 'webhook secret', path: `${ENDPOINTS}/${endpoint_id}/secret`, by });
  return kept.isExpected ? { endpoint_id, secret: kept.read(Secret).secret } : null;
}

/** A webhook endpoint that receives every end of a poll for a while, and is then removed. */
export const subscribe: Activity = async (world) => {
  const by = anyPerson(world);
  const way = 'webhook endpoint';
  const description = randomUUID();
  const body = {
    url: world.receiver.urlFor(description),
    event_types: ['poll.completed', 'poll.failed', 'batch.completed'],
    description,
  };
  const made = await world.call({ way, path: ENDPOINTS, body, by, expect: [201, 409] });
  if (made.status === 409) return;
  const endpoint = made.status === 201 ? made.read(NewEndpoint) : await findEndpoint(world, by, description);
  if (!endpoint) return;
  world.receiver.learnSecret(description, endpoint.secret);
  const path = `${ENDPOINTS}/${endpoint.endpoint_id}`;
  await world.call({ way, method: 'POST', path: `${path}/test`, by, expect: [200, 202] });
  const asked = newQuestion(world);
  const begun = await world.call({ way, path: '/api/poll', body: { ...asked, preset: 'fast' }, by });
  if (begun.isExpected) judgeAnswer(world, way, { asked, panel: presetPanel('fast'), answer: begun.value, by });
  await world.call({ way, path: `${path}/deliveries`, by });
  await world.call({ way, method: 'DELETE', path, by });
};
