import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { untilServed } from '../src/faults/until-served.ts';

// What a campaign reads before and after its faults, on a machine that is still busy.

/** The last status again and again. */
async function answering(t: Test, ...statuses: number[]) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const status = statuses[Math.min(asked.length, statuses.length - 1)]!;
    asked.push(`${request.method} ${request.headers.authorization ?? ''}`);
    response.writeHead(status).end(`answer ${asked.length}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

t.test('503 is asked again until there is another answer, as it was asked before', async (t) => {
  const { url, asked } = await answering(t, 503, 503, 200);
  const init = { method: 'POST', headers: { authorization: 'key' } };
  t.same(await untilServed(url, 60_000, init), { status: 200, text: 'answer 3' });
  t.same(asked, ['POST key', 'POST key', 'POST key']);
});

t.test('every other answer is the first, and 503 is one when the time is over', async (t) => {
  for (const status of [200, 404, 500, 502]) {
    const { url } = await answering(t, status, 503);
    t.same(await untilServed(url, 60_000), { status, text: 'answer 1' });
  }
  const { url } = await answering(t, 503);
  t.same(await untilServed(url, -1), { status: 503, text: 'answer 1' });
});
