import t from 'tap';
import { openWebhookReceiver } from '../src/faults/webhook-receiver.ts';
import { chance } from '../src/terminal/chance.ts';

// The receiver of a campaign's webhooks: what it refuses the first time, it takes the second time.

const usual = chance('receiver');
const withChances = (...outcomes: boolean[]) => ({ ...usual, happens: () => outcomes.shift() ?? false });

const send = (url: string, id: string) =>
  fetch(url, { method: 'POST', body: `{"id":"${id}"}`, headers: { 'webhook-id': id } });

t.test('a message that is refused, or whose answer is lost, is taken when it is sent again', async (t) => {
  const LOST = [true];
  const REFUSED = [false, true];
  await using receiver = await openWebhookReceiver(withChances(...LOST, ...REFUSED));
  const url = receiver.urlOf('/of-one-account');

  await t.rejects(send(url, 'first'));
  t.equal((await send(url, 'first')).status, 204);
  t.equal((await send(url, 'second')).status, 500);
  t.equal((await send(url, 'second')).status, 204);
  t.match(
    receiver.messages.map(({ path, id, body }) => [path, id, body]),
    ['first', 'first', 'second', 'second'].map((id) => ['/of-one-account', id, `{"id":"${id}"}`]),
  );
});

t.test('a closed receiver answers nothing', async (t) => {
  const receiver = await openWebhookReceiver(withChances());
  const url = receiver.urlOf('/gone');
  t.equal((await send(url, 'first')).status, 204);
  await receiver[Symbol.asyncDispose]();
  await t.rejects(send(url, 'second'));
});
