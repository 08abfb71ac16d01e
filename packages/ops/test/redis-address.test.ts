import t from 'tap';
import { readRedisAddress } from '../src/redis-address.ts';

const host = (name: string, port = 6_379) => ({ host: name, port });

t.test('one server, a cluster, Sentinels', async (t) => {
  const server = { kind: 'server', isEncrypted: false };
  t.same(readRedisAddress('redis://localhost'), { ...server, hosts: [host('localhost')] });
  t.same(readRedisAddress('redis://[::1]:7000/2'), { ...server, hosts: [host('::1', 7_000)] });
  t.match(readRedisAddress('redis://h:1?family=6'), { kind: 'server' }, 'options of the client are its own affair');
  t.same(readRedisAddress('rediss://me:p%40ss%2Fword@one:7000,two,three:7002'), {
    kind: 'cluster',
    hosts: [host('one', 7_000), host('two'), host('three', 7_002)],
    username: 'me',
    password: 'p@ss/word',
    isEncrypted: true,
  });
  t.match(readRedisAddress('redis+cluster://:secret@one'), { kind: 'cluster', password: 'secret' });
  t.match(readRedisAddress('redis+sentinel://:secret@one,two:1/main'), {
    kind: 'sentinel',
    hosts: [host('one', 26_379), host('two', 1)],
    master: 'main',
  });
});

t.test('what is no address', async (t) => {
  const wrong = [
    '',
    'h:6379',
    'http://h',
    'redis://',
    'redis://h:0',
    'redis://h:65536',
    'redis://one,,two',
    'redis://a b',
  ];
  const contradicting = ['redis+sentinel://one', 'redis://one,two/3', 'redis://one,two?family=6', 'redis://h/name'];
  for (const text of [...wrong, ...contradicting]) t.equal(readRedisAddress(text), null, text);
});
