import t from 'tap';
import { inOneLine, jsonLine } from '../../src/http/json-line.ts';

const LINE_ENDS = ['\n', '\v', '\f', '\r', '\u001c', '\u001d', '\u001e', '\u0085', '\u2028', '\u2029'];

t.test('JSON of any text is one line to every reader, and says the same', async (t) => {
  const question = `a${LINE_ENDS.join('')}b`;
  const line = jsonLine({ question });
  for (const end of LINE_ENDS) t.notOk(line.includes(end), `U+${end.charCodeAt(0).toString(16)}`);
  t.same(JSON.parse(line), { question });
  t.equal(inOneLine('{"a":1}\n\n'), '{"a":1}\n\n', 'ends of lines between values stay');
});
