import t from 'tap';
import { readArguments } from '../src/cli/arguments.ts';
import { COMMANDS, OPTIONS } from '../src/cli/command-line.ts';
import { COMPLETION } from '../src/cli/completion.ts';
import { closest } from '../src/cli/did-you-mean.ts';
import { HELP } from '../src/cli/help.ts';
import { UsageError } from '../src/cli/usage-error.ts';

const read = (argv: string[], env = {}) => readArguments(argv, env);

t.test('a poll with its options parses to an order', async (t) => {
  const poll = { question: 'Which is it?', options: ['A', 'B, C'] };
  t.match(read(['ask', 'Which is it? [A, "B, C"]']), { name: 'ask', how: 'stream', poll, terms: {}, json: false });
  t.match(read(['Which is it? [A, "B, C"]']), { name: 'ask', poll }, 'the command may be left out');
  t.match(read(['ask', 'Which is? [x]', '--option', 'A', '--option', 'B']), {
    poll: { question: 'Which is? [x]', options: ['A', 'B'] },
  });
  t.match(read(['Which is it? [A, B]', '--models', 'a/1, b/2,c/3']), { terms: { models: ['a/1', 'b/2', 'c/3'] } });
  t.match(read(['Which is it? [A, B]', '--panel', 'mine']), { terms: { panel: 'mine' } });
  t.same(
    read(['Which is it? [A, B]', '--preset=fast', '--threshold', '.8', '--max-cost', '$2', '--dry-run', '--json']),
    {
      name: 'ask',
      how: 'dry-run',
      poll: { question: 'Which is it?', options: ['A', 'B'] },
      terms: { preset: 'fast', confidence_threshold: 0.8, max_cost_usd: 2 },
      json: true,
      url: undefined,
      key: undefined,
      session: undefined,
    },
  );
  t.match(read(['Which is it? [A, B]', '--reasons']), { terms: { reasons: true } });
  const keyed = ['Which is it? [A, B]', '--idempotency-key', 'job-7'];
  t.match(read(keyed), { how: 'stream', options: { idempotencyKey: 'job-7' } });
  t.match(read([...keyed, '--free']), { how: 'free', options: { idempotencyKey: 'job-7' } });
  t.match(read(['--free', 'Is this a question?']), { how: 'free', poll: { question: 'Is this a question?' } });
});

t.test('what is missing of a poll is left to be asked for', async (t) => {
  t.match(read(['ask']), { name: 'ask', poll: null });
  t.match(read(['--free']), { name: 'ask', how: 'free', poll: null });
  t.match(read(['ask', 'Which is it, then?']), { poll: { question: 'Which is it, then?', options: null } });
});

t.test('other commands, service address and key are parsed', async (t) => {
  for (const name of ['result', 'open']) t.match(read([name, 'EP-1']), { name, id: 'EP-1' });
  t.match(read(['watch', 'ps_1', 'EP-1', 'ps_1']), { name: 'watch', ids: ['ps_1', 'EP-1'] });
  for (const name of ['balance', 'logout']) t.match(read([name]), { name });
  t.match(read(['history', '--limit', '5']), { name: 'history', limit: 5, offset: 0 });
  t.match(read(['history', '--offset', '1000000']), { offset: 1_000_000 });
  t.match(read(['keys']), { name: 'keys', action: 'list' });
  t.match(read(['keys', 'create', 'build server']), { action: 'create', terms: { label: 'build server' } });
  t.match(read(['keys', 'revoke', 'ep_k_AbCdE']), { action: 'revoke', id: 'ep_k_AbCdE' });
  t.match(read(['login', '--no-browser']), { name: 'login', browser: false });
  t.match(read(['completion', 'zsh']), { name: 'completion', shell: 'zsh' });
  for (const argv of [['--version'], ['-V']]) t.match(read(argv), { name: 'version' });
  for (const argv of [[], ['help'], ['--help'], ['ask', '-h']]) t.match(read(argv), { name: 'help' });
  const env = { EP_URL: 'https://a.example', EP_KEY: ' ep_k_1\n', EP_SESSION: '' };
  t.match(read(['history'], env), { url: 'https://a.example', key: 'ep_k_1', session: undefined });
  t.match(read(['history', '--url', 'http://b', '--key', 'ep_k_2'], env), { url: 'http://b', key: 'ep_k_2' });
});

t.test('an invalid command line is a UsageError that says what would be right', async (t) => {
  const q = 'Which is it? [A, B]';
  for (const [argv, sentence] of [
    [['ask', 'Which', 'is it? [A, B]'], /in quotes/],
    [['Which is it? [A, B]', '--idempotency-key', 'job 7'], /without spaces/],
    [['Which is it? [A, B]', '--dry-run', '--idempotency-key', 'job-7'], /cannot be combined: nothing is run/],
    [['ask', 'Which is it? [A, B'], /not closed \(at character 14\)/],
    [['ask', 'Which is it? [Tea]'], /^Give at least two options: \[Tea, …\]\.$/],
    [['ask', 'Which is it? [A, B, A]'], /^Options 1 and 3 are the same\.$/],
    [['ask', `Which is it? [${'abcdefghijk'.split('').join(', ')}]`], /^There are 11 options; at most 10/],
    [['ask', `Which is it? [A, ${'x'.repeat(201)}]`], /^Option 2 has 201 characters; at most 200/],
    [['ask', 'Which? [A, B]'], /^The question has 6 characters; at least 10 are needed\.$/],
    [[q, '--preset', 'slow'], /^Unknown preset slow: broad, fast or strong\.$/],
    [[q, '--preset', 'stong'], /Did you mean strong\?$/],
    [[q, '--models', 'a,b'], /^--models takes 3 to 15 different ids, separated by commas\.$/],
    [[q, '--models', 'a,b,b'], /different ids/],
    [[q, '--models', 'a,b,c', '--preset', 'fast'], /^--preset and --models both name a panel; use one of them\.$/],
    [[q, '--models', 'a,b,c', '--panel', 'mine'], /^--models and --panel both name a panel/],
    [[q, '--free', '--models', 'a,b,c'], /cannot be combined/],
    [[q, '--threshold', 'high'], /--threshold must be a number/],
    [[q, '--threshold', '95'], /^--threshold must be 0 to 1\. Did you mean 0\.95\?$/],
    [[q, '--threshold', '950'], /^--threshold must be 0 to 1\.$/],
    [[q, '--max-cost', '1e999'], /--max-cost must be a number/],
    [[q, '--max-cost', '26'], /more than 0 and at most 25 dollars/],
    [[q, '--max-cost', '0'], /more than 0/],
    [[q, '--free', '--preset', 'fast'], /cannot be combined/],
    [[q, '--colour'], /^Unknown option --colour\. See --help\.$/],
    [[q, '--treshold', '1'], /^Unknown option --treshold\. Did you mean --threshold\?$/],
    [[q, '--threshold'], /argument missing.*See --help\.$/],
    [['resutl', 'EP-1'], /^Unknown command resutl\. Did you mean result\?$/],
    [['hsitory'], /Did you mean history\?$/],
    [['frobnicate'], /^Unknown command frobnicate\. See --help\.$/],
    [['result'], /one id/],
    [['result', 'a', 'b'], /one id/],
    [['keys', 'crate'], /^Unknown action of keys crate: list, create, change or revoke\. Did you mean create\?$/],
    [['keys', 'revoke'], /one id/],
    [['completion', 'csh'], /bash, zsh or fish/],
    [['history', '--limit', '500'], /from 1 to 100/],
    [['history', '--status', 'failed'], /^history has no option --status; it takes --limit, --offset\.$/],
    [['polls', '--offset', '100'], /^polls has no option --offset; it takes --status, --close/],
    [['polls', '--from', '2026-11-01'], /^polls has no option --from/],
    [[q, '--limit-usd', '.01'], /^ask has no option --limit-usd; it takes --option/],
    [['ask', q, '--out', 'file'], /^ask has no option --out/],
    [['result', 'EP-1', '--yes'], /^result has no option --yes; it takes none of its own\.$/],
    [['open', 'EP-1', '--after', 'x'], /^open has no option --after/],
    [['cancel', 'EP-1'], /^cancel takes ps_… or pb_…, which polls and batches list, not EP-1\.$/],
    [['cancel', 'ps_1', '--yes'], /^cancel has no option --yes/],
    [['verify', 'EP-1', '--out', 'x'], /^verify has no option --out; it takes --keys, --days\.$/],
    [['balance', '--by', 'day'], /^balance has no option --by/],
    [['logout', '--no-browser'], /^logout has no option --no-browser/],
    [['login', '--limit', '1'], /^login has no option --limit; it takes --no-browser\.$/],
    [['keys', 'change', 'k', '--until', '2027-02-31'], /^--until must be a day such as 2027-01-31/],
    [['usage', '--to', '2026-11-31'], /^--to must be a day such as/],
    [['history', 'all'], /no further words/],
    [['history', '--url', 'ftp://x'], /address/],
    [['history', '--key', 'ep k'], /characters/],
    [['history', '--key', ''], /^--key is empty\.$/],
    [['history', '--session', ' '], /^--session is empty\.$/],
  ] as const) {
    t.throws(() => read([...argv]), { constructor: UsageError, message: sentence }, argv.join(' '));
  }
});

t.test('a mistyped word means the nearest one, if any is near', async (t) => {
  const names = ['result', 'watch', 'keys'];
  for (const word of ['resutl', 'Result', 'reslt', 'resullt']) t.equal(closest(word, names), 'result', word);
  for (const word of ['', 'x', 'banana', 'watching']) t.equal(closest(word, names), null, word);
});

t.test('help and completion name every command and option', async (t) => {
  for (const name of Object.keys(COMMANDS)) t.match(HELP, name === 'help' ? '--help' : name);
  for (const name of Object.keys(OPTIONS)) t.match(HELP, `--${name}`);
  for (const script of Object.values(COMPLETION)) {
    for (const name of Object.keys(COMMANDS)) t.match(script, new RegExp(`\\b${name}\\b`));
    for (const name of Object.keys(OPTIONS)) t.match(script, new RegExp(`(--|-l )${name}\\b`));
  }
});
