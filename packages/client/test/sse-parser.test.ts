import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { createSseParser } from '../src/eloquentpoll.ts';

const read = (...pieces: string[]) => pieces.flatMap(createSseParser());

t.test('server-sent events are parsed as in the HTML standard', async (t) => {
  t.same(read('event: a\ndata: 1\ndata:2\nid: x\n\n'), [{ event: 'a', data: '1\n2', id: 'x', retryMs: null }]);
  t.same(
    read('data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n').map(({ data }) => data),
    ['1', '2', '3'],
    'three line ends',
  );
  t.same(read('\ufeffdata: 1\n\n')[0]?.data, '1', 'a byte order mark at the start');
  t.same(read(': a comment\n\nevent: nothing\n\n'), [], 'no data, no event');
  t.same(read('data\n\n')[0]?.data, '', 'a field without a value');
  t.same(read('data:  two spaces\n\n')[0]?.data, ' two spaces');
  t.same(
    read('id: x\ndata: 1\n\ndata: 2\n\n').map(({ id }) => id),
    ['x', 'x'],
    'an id stays',
  );
  t.same(read('id: a\0b\ndata: 1\n\n')[0]?.id, '', 'an id with a NUL is none');
  t.same(read('retry: 3000\ndata: 1\n\n')[0]?.retryMs, 3_000);
  t.same(read('retry: soon\nunknown: 1\ndata: 1\n\n')[0], { event: 'message', data: '1', id: '', retryMs: null });
  t.same(read('data: 1\n\ndata: cut off\n'), read('data: 1\n\n'), 'what was cut off never happened');
  t.throws(() => read(`data: ${'x'.repeat(17 * 2 ** 20)}`), { code: 'bad_response' }, 'an event has an end');
});

t.test('events parse the same for any split into chunks', async (t) => {
  const line = fc.constantFrom('data: a', 'data:b', ': c', 'event: started', 'id: 7', 'retry: 1', '', '', 'data');
  const end = fc.constantFrom('\n', '\r\n', '\r');
  const text = fc.array(fc.tuple(line, end), { maxLength: 30 }).map((lines) => lines.flat().join(''));
  fc.assert(
    fc.property(text, fc.array(fc.nat(200), { maxLength: 8 }), (text, cuts) => {
      const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
      const pieces = at.slice(1).map((to, i) => text.slice(at[i], to));
      t.same(read(...pieces), read(text));
    }),
  );
});
