import { isJsonObject, LIMITS } from '@eloquentpoll/contracts';
import fc from 'fast-check';
import t from 'tap';
import { csvRows } from '../../src/batches/upload/csv-rows.ts';
import { readInlineBody } from '../../src/batches/upload/inline-body.ts';
import { jsonlRows } from '../../src/batches/upload/jsonl-rows.ts';
import { meteredBytes } from '../../src/batches/upload/metered-bytes.ts';
import type { RawRow } from '../../src/batches/upload/raw-row.ts';

// slow: 2 s

async function* inPieces(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  for (let from = 0, i = 0; from < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

async function collected(rows: AsyncIterable<RawRow>): Promise<RawRow[]> {
  const all: RawRow[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', 'é', '|', ' ', '='), maxLength: 12 });
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

t.test('a row says what its cells say, on the line where it begins, however the bytes arrive', async () => {
  const tables = fc.array(fc.tuple(cell, cell, fc.constantFrom('\n', '\r\n'), fc.nat(2)), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(tables, sizes, fc.boolean(), async (table, pieces, hasBom) => {
      let text = 'question,options,gold\r\n';
      let line = 2;
      const expected: RawRow[] = [];
      for (const [question, gold, lineBreak, blanks] of table) {
        text += '\n'.repeat(blanks);
        line += blanks;
        const record = `${quoted(question)},A|B,${quoted(gold)}${lineBreak}`;
        const value = {
          ...(question.trim() !== '' && { question }),
          options: ['A', 'B'],
          ...(gold.trim() !== '' && { gold }),
        };
        expected.push({ line, value });
        text += record;
        line += record.split('\n').length - 1;
      }
      const bytes = Buffer.from(`${hasBom ? '\ufeff' : ''}${text}`);
      t.same(await collected(csvRows(inPieces(bytes, pieces))), expected);
    }),
    { numRuns: 200 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.option(fc.jsonValue()), { maxLength: 8 }), sizes, async (values, pieces) => {
      const text = values.map((value) => (value === null ? ' \r' : JSON.stringify(value))).join('\n');
      const expected = values.flatMap((value, i) => (value === null ? [] : [{ line: i + 1, value }]));
      t.same(await collected(jsonlRows(inPieces(Buffer.from(text), pieces))), JSON.parse(JSON.stringify(expected)));
    }),
    { numRuns: 200 },
  );
});

t.test(
  'a CSV row with a fault ends with its line where that is clear, and is the last one where it is not',
  async (t) => {
    const long = 'x'.repeat(LIMITS.batch.line_bytes);
    const faults: [string, RegExp, boolean][] = [
      ['5" screen,A|B', /quote within a cell/, false],
      ['a 5" and a 6" screen,"A|B"', /quote within a cell/, false],
      ['"a" b,A|B', /closing quote/, false],
      ['"they say "hi, all" and leave",A|B', /closing quote/, false],
      [`${long},A|B`, /longer than 65536/, false],
      [`"${long}",A|B`, /longer than 65536/, false],
      ['a,A|B,c', /3 cells, the header 2/, false],
      ['"a" b,"A|B', /closing quote/, true],
      ['"a\nb" c,A|B', /not closed, or text behind a closing one/, true],
      [`"${long}\n",A|B`, /quote before it is not closed/, true],
      ['"a,A|B', /not closed/, true],
    ];
    const good = { question: 'Which?', options: ['A', 'B'] };
    for (const [fault, problem, isLast] of faults) {
      const bytes = Buffer.from(['question,options', 'Which?,A|B', fault, '"Which?","A|B"', ''].join('\r\n'));
      const rows = await collected(csvRows(inPieces(bytes, [7, 1, 5_000])));
      const expected = [
        { line: 2, value: good },
        { line: 3, problem, ...(isLast && { isLast }) },
      ];
      t.match(rows, isLast ? expected : [...expected, { line: 4, value: good }], fault.slice(0, 40));
      t.equal(rows.length, isLast ? 2 : 3);
    }
    const soup = fc.string({ unit: fc.constantFrom('a', '"', '"', ',', '\n', '\r', 'é'), maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(soup, sizes, async (text, pieces) => {
        const bytes = Buffer.from(`question,options\n${text}`);
        const rows = await collected(csvRows(inPieces(bytes, pieces)));
        t.same(rows, await collected(csvRows(inPieces(bytes, [bytes.length]))));
        const ends = rows.flatMap((row, i) => ('isLast' in row && row.isLast ? [i] : []));
        t.ok(ends.length === 0 || (ends.length === 1 && ends[0] === rows.length - 1));
        const places = rows.map(({ line }) => line);
        t.same(
          places,
          [...new Set(places)].toSorted((a, b) => a - b),
        );
      }),
      { numRuns: 500 },
    );
  },
);

t.test('rows of a JSON body are what JSON.parse finds, and other work goes on meanwhile', async (t) => {
  const reading = async (text: string) => {
    const { members, rows } = await readInlineBody(Buffer.from(text));
    const requests = rows === null ? null : (await collected(rows)).map((row) => 'value' in row && row.value);
    return { members, requests };
  };
  const part = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', ' ', '1', 'é', '\0', '');
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(2), part), { maxLength: 2 });
  const body = fc.record({
    requests: fc.array(fc.jsonValue(), { maxLength: 4 }),
    preset: fc.jsonValue(),
    'a"\\': fc.string(),
  });
  await fc.assert(
    fc.asyncProperty(body, edits, fc.boolean(), async (value, changes, isSpaced) => {
      let text = JSON.stringify(value, null, isSpaced ? '\r\n\t ' : undefined);
      for (const [at, length, insert] of changes) {
        const from = at % text.length;
        text = text.slice(0, from) + insert + text.slice(from + length);
      }
      let expected: unknown;
      try {
        expected = JSON.parse(text);
      } catch {
        await t.rejects(reading(text), { code: 'malformed_json' }, text);
        return;
      }
      if (!isJsonObject(expected)) return;
      const { requests = null, ...members } = expected;
      t.same(await reading(text), { members, requests: Array.isArray(requests) ? requests : null }, text);
    }),
    { numRuns: 300 },
  );

  const row = { question: 'x'.repeat(700), options: ['A', 'B'] };
  const large = Buffer.from(JSON.stringify({ requests: Array.from({ length: 10_000 }, () => row), preset: 'fast' }));
  let turns = 0;
  const other = setInterval(() => turns++);
  t.teardown(() => clearInterval(other));
  const { members, rows } = await readInlineBody(large);
  t.same(members, { preset: 'fast' });
  t.equal((await collected(rows!)).length, 10_000);
  const wide = Buffer.from(`{"requests":[${'1,'.repeat(4_000_000)}1]}`);
  turns = 0;
  t.equal((await collected((await readInlineBody(wide)).rows!)).length, LIMITS.batch.inline_rows + 1, 'one too many');
  t.ok(turns > 0, 'timers ran while it was read');
  await t.rejects(readInlineBody(Buffer.from(`{"metadata":"${'x'.repeat(65_536)}"}`)), { code: 'validation_error' });
});

t.test('a line without an end is dropped as it passes, and an upload ends at its limit', async (t) => {
  const chunk = Buffer.alloc(1024 * 1024, 'x');
  async function* endless(chunks: number, last = ''): AsyncGenerator<Buffer> {
    for (let i = 0; i < chunks; i++) yield chunk;
    yield Buffer.from(last);
  }
  t.match(await collected(jsonlRows(endless(100, '\n{"a":1}'))), [
    { line: 1, problem: /longer than 65536 bytes/ },
    { line: 2, value: { a: 1 } },
  ]);
  t.match(await collected(csvRows(endless(3))), [{ line: 1, problem: /longer than 65536 bytes/, isLast: true }]);
  const most = LIMITS.batch.bytes / chunk.length;
  const within = meteredBytes(endless(most));
  for await (const _ of within);
  t.match(within.hash(), /^[0-9a-f]{64}$/);
  await t.rejects(collected(jsonlRows(meteredBytes(endless(most, 'x')))), { code: 'payload_too_large' });
});
