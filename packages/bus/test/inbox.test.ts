import t from 'tap';
import { openChannels } from '../src/progress-channels.ts';

// The one channel on which a gateway hears of the ends that it waits for.

t.test('a subscription of the inbox that stands late makes those who wait look for themselves', async (t) => {
  const subscribed = Promise.withResolvers<void>();
  let joins = 0;
  const subscriptions = {
    join: () => {
      joins += 1;
      return subscribed.promise;
    },
    part() {},
    close: async () => {},
  };
  const channels = openChannels(() => subscriptions, 'inbox', t.fail, 1_000);
  const heard: unknown[] = [];
  const first = await channels.watchEnd('ps_1', (news) => heard.push(news));
  const second = await channels.watchEnd('ps_2', (news) => heard.push(news));
  second.close();
  t.same(heard, [], 'waited for no longer than for any subscription');
  subscribed.resolve();
  await new Promise(setImmediate);
  t.same(heard, [null], 'what was published until now is lost');
  first.close();
  t.equal(joins, 1);
  t.equal(channels.watched(), 0);
});
