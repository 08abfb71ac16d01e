import { LIMITS } from '@eloquentpoll/contracts';
import fc from 'fast-check';
import t from 'tap';
import { csvRows } from '../../src/batches/upload/csv-rows.ts';
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
