import t from 'tap';
import { csvLine } from '../../src/http/csv.ts';

t.test('a line is what RFC 4180 says, and no cell is a formula', async (t) => {
  const lines: [(string | number | boolean | null)[], string][] = [
    [['plain', 5, -5, null, true, ''], 'plain,5,-5,,true,'],
    [['a,b', 'say "so"', 'two\nlines'], '"a,b","say ""so""","two\nlines"'],
    [['=1+1', '+1', '-1', '@a', '1=1'], "'=1+1,'+1,'-1,'@a,1=1"],
    // To a program that separates by these as well the rest would be a cell of its own.
    [['x;=1+1', 'x; y'], '"x;=1+1","x; y"'],
    [['x\t=1+1', '\t=1+1'], '"x\t=1+1","\'\t=1+1"'],
  ];
  for (const [cells, line] of lines) t.equal(csvLine(cells), `${line}\r\n`);
});
