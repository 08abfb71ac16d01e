import t from 'tap';
import { readArguments } from '../src/cli/arguments.ts';
import { UsageError } from '../src/cli/usage-error.ts';

const read = (argv: string[], env = {}) => readArguments(argv, env);

t.test('a poll with its options parses to an order', async (t) => {
  const plain = { name: 'ask', how: 'stream', request: { question: 'Which?', options: ['A', 'B, C'] }, json: false };
  t.match(read(['ask', 'Which? [A, "B, C"]']), plain);
  t.match(read(['Which? [A, "B, C"]']), plain, 'the command may be left out');
  t.match(read(['ask', 'Which? [x]', '--option', 'A', '--option', 'B']), {
    request: { question: 'Which? [x]', options: ['A', 'B'] },
  });
  t.same(read(['Q [A, B]', '--preset=fast', '--threshold', '.8', '--max-cost', '2', '--dry-run', '--json']), {
    name: 'ask',
    how: 'dry-run',
    request: { question: 'Q', options: ['A', 'B'], preset: 'fast', confidence_threshold: 0.8, max_cost_usd: 2 },
    json: true,
    url: undefined,
    key: undefined,
    session: undefined,
  });
  t.match(read(['--free', 'Is this a question?']), { name: 'free', request: { question: 'Is this a question?' } });
});

t.test('other commands, service address and key are parsed', async (t) => {
  t.match(read(['result', 'EP-1']), { name: 'result', id: 'EP-1' });
  t.match(read(['history', '--limit', '5']), { name: 'history', limit: 5, offset: 0 });
  for (const argv of [[], ['help'], ['--help'], ['ask', '-h']]) t.match(read(argv), { name: 'help' });
  const env = { EP_URL: 'https://a.example', EP_KEY: ' ep_k_1\n', EP_SESSION: '' };
  t.match(read(['history'], env), { url: 'https://a.example', key: 'ep_k_1', session: undefined });
  t.match(read(['history', '--url', 'http://b', '--key', 'ep_k_2'], env), { url: 'http://b', key: 'ep_k_2' });
});

t.test('an invalid command line is a UsageError of one sentence', async (t) => {
  for (const [argv, sentence] of [
    [['ask'], /ask takes one text/],
    [['ask', 'Which', 'is it? [A, B]'], /in quotes/],
    [['ask', 'Which is it?'], /Put the options behind/],
    [['ask', 'Which is it? [A, B'], /not closed \(at character 14\)/],
    [['Q [A, B]', '--preset', 'slow'], /broad, fast or strong/],
    [['Q [A, B]', '--threshold', 'high'], /--threshold is a number/],
    [['Q [A, B]', '--max-cost', '1e999'], /--max-cost is a number/],
    [['Q [A, B]', '--free', '--preset', 'fast'], /do not go together/],
    [['Q [A, B]', '--colour'], /Unknown option '--colour'\. See --help\.$/],
    [['Q [A, B]', '--threshold'], /argument missing.*See --help\.$/],
    [['result'], /one id/],
    [['result', 'a', 'b'], /one id/],
    [['history', '--limit', '500'], /from 1 to 100/],
    [['history', 'all'], /no words/],
    [['history', '--url', 'ftp://x'], /address/],
    [['history', '--key', 'ep k'], /characters/],
  ] as const) {
    t.throws(() => read([...argv]), { constructor: UsageError, message: sentence }, argv.join(' '));
  }
});
