import t from 'tap';
import {
  httpsUrl,
  integer,
  list,
  onOff,
  optional,
  pairs,
  type Reader,
  readSettings,
  redactedSettings,
  required,
  secret,
  share,
  text,
  url,
  withDefault,
} from '../src/settings/index.ts';

const TABLE = {
  NAME: required(text('letters', /^[a-z]+$/), 'A name.'),
  COUNT: withDefault(integer(1, 9), 3, 'A count.'),
  STORE: optional(url('postgres:'), 'A store.'),
  PEER: optional(url('https:'), 'A peer.'),
  TOKEN: optional(secret(text('8 characters', /^.{8}$/)), 'A token.'),
} as const;

t.test('unset, empty and blank variables have the default, or undefined', async (t) => {
  const values = readSettings(TABLE, { NAME: ' abc ', COUNT: '', STORE: '  ' });
  t.same(values, { NAME: 'abc', COUNT: 3, STORE: undefined, PEER: undefined, TOKEN: undefined });
});

t.test('every problem is a line of its own; text is repeated, addresses and secrets are not', async (t) => {
  const read = () => readSettings(TABLE, { COUNT: '0x\n', STORE: 'http://u:hush@h', TOKEN: 'hush' });
  t.throws(read, {
    message: [
      'NAME: is not set; it must be letters',
      'COUNT: must be a whole number from 1 to 9, not "0x"',
      'STORE: must be a URL such as postgres://...',
      'TOKEN: must be 8 characters',
    ].join('\n'),
  });
});

t.test('the start line: text as it is, where an address leads, and of a secret only that it is set', async (t) => {
  const env = {
    NAME: 'abc',
    COUNT: ' ',
    STORE: 'postgres://user:canary@db:5432/polls?password=canary',
    PEER: 'https://host/canary/path?key=canary',
    TOKEN: 'canary',
    OTHER: 'canary',
  };
  const shown = { NAME: 'abc', STORE: 'postgres://db:5432/polls', PEER: 'https://host', TOKEN: 'set' };
  t.same(redactedSettings(TABLE, env), shown);
  t.same(redactedSettings(TABLE, { STORE: 'canary' }), { STORE: 'set' });
});

const READ: [Reader<unknown>, good: Record<string, unknown>, wrong: string[]][] = [
  [integer(0, 10), { '0': 0, '10': 10 }, ['11', '-1', '1.5', '1e1', '']],
  [share, { '0': 0, '1': 1, '.25': 0.25, '0.5': 0.5 }, ['2', '1.5', 'half']],
  [onOff, { on: true, off: false }, ['true', 'toString']],
  [url('redis:'), { 'redis://h': 'redis://h' }, ['h:6379', 'http://h']],
  [httpsUrl, { 'https://h/x': 'https://h/x', 'http://[::1]:1': 'http://[::1]:1' }, ['http://h', 'https://u:p@h', 'h']],
  [pairs, { 'a=b%20c, d=': { a: 'b c', d: '' }, 'a=%zz': { a: '%zz' } }, ['a', '=b']],
  [list(integer(1, 9), 2), { '1': [1], '1, 2': [1, 2] }, ['1,', '1,2,3', 'x']],
];

t.test('readers', async (t) => {
  for (const [reader, good, wrong] of READ) {
    for (const [written, value] of Object.entries(good))
      t.same(reader.read(written), value, `${written} as ${reader.form}`);
    for (const written of wrong) t.equal(reader.read(written), undefined, `${written} is not ${reader.form}`);
  }
});
