import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { cutToWholeLines } from '../src/cli/lines-file.ts';
import { overviewOf } from '../src/cli/rows-overview.ts';
import { splitLines, type TextLine } from '../src/split-lines.ts';

async function linesIn(text: string, size: number, maxBytes?: number): Promise<TextLine[]> {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const lines: TextLine[] = [];
  for await (const line of splitLines(pieces(), maxBytes)) lines.push(line);
  return lines;
}

t.test('lines end at LF, or CR LF, and nowhere else, however their bytes are cut', async (t) => {
  const text = 'a\u2028b\r\n\n\u2029\u0085ü\rc\nlast';
  for (let size = 1; size <= Buffer.byteLength(text); size++) {
    t.same(
      await linesIn(text, size),
      [
        { text: 'a\u2028b', endsAt: 7, hasEnd: true },
        { text: '', endsAt: 8, hasEnd: true },
        { text: '\u2029\u0085ü\rc', endsAt: 18, hasEnd: true },
        { text: 'last', endsAt: 22, hasEnd: false },
      ],
      `${size} bytes at a time`,
    );
  }
  t.same(await linesIn('', 1), []);
});

t.test('a line that is longer than the bound is left out, and the next one is read', async (t) => {
  for (const size of [1, 3, 100]) {
    const lines = await linesIn('1234\n12345\nb\n123456', size, 4);
    t.same(
      lines.map(({ text }) => text),
      ['1234', null, 'b', null],
    );
  }
});

t.test('a file of lines that hold line separators is complete, and one that broke off is cut', async (t) => {
  const file = join(t.testdir(), 'lines.jsonl');
  const cut = async (text: string) => {
    writeFileSync(file, text);
    const values: unknown[] = [];
    await cutToWholeLines(file, (value) => Boolean(values.push(value)));
    return [readFileSync(file, 'utf8'), values.length];
  };
  const whole = '{"a":"x\u2028y"}\n{"b":"\u2029"}\n';
  t.same(await cut(whole), [whole, 2]);
  t.same(await cut(whole.trimEnd()), [whole, 2], 'its last line gets its end');
  t.same(await cut(`${whole}{"c":"\u2028`), [whole, 2]);
  t.same(await cut('{"a":1}\r\n{"b":"ü"}\r\n{"c'), ['{"a":1}\r\n{"b":"ü"}\r\n', 2], 'as another system ends lines');
  const other = join(t.testdirName, 'other.jsonl');
  await cutToWholeLines(other, () => true);
  t.ok(existsSync(other));
});

t.test('rows that hold line separators are counted as the service counts them', async (t) => {
  const first = JSON.stringify({ question: 'a\u2028b', options: ['a\u2029', 'b'], gold: 'b' });
  const rows = new Blob([`\ufeff${first}\r\n\r\n{"question":"c"}`]);
  t.same(await overviewOf(rows, 'jsonl'), { rows: 2, withGold: 1, hasGold: true, options: 2, hasTerms: false });
  await t.rejects(overviewOf(new Blob([`${first}\n\n[\u2028`]), 'jsonl'), { message: /^Line 3 is not a JSON object/ });
});
