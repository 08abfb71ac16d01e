import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { toMermaid } from '../../src/polls/read/to-mermaid.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

t.test('[§4.2-mermaid-200, §1-support-graph] votes and result as a diagram', async (t) => {
  const { app, context, keyWith } = await build(t);
  await standInWorker(t, context, { opinion: (seat) => [0, 1, null, 0, 0][seat]! });
  const { bearer } = await keyWith(1);
  const payload = { question: 'Which is best?', options: ['A "quoted" one', 'B'], preset: 'fast' };
  const { poll_id, votes } = (await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload })).json();
  const url = `/api/graph/mermaid/${poll_id}`;
  const answer = await app.inject({ url });
  t.equal(answer.statusCode, 200);
  t.match(answer.headers, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex',
    'cache-control': 'public, no-cache',
    'access-control-allow-origin': '*',
  });
  const { labels, edges } = read(answer.body);
  t.match(labels, { q: 'Which is best?', o0: 'A "quoted" one (3 votes)', o1: 'B (1 vote)', n: 'No vote', r: 'Winner' });
  for (const [i, vote] of votes.entries()) t.equal(labels[`m${i}`], vote.model_id);
  t.same(
    edges.filter((edge) => edge.startsWith('m')),
    ['m0 --> o0', 'm1 --> o1', 'm2 -.-> n', 'm3 --> o0', 'm4 --> o0'],
  );
  t.same(
    edges.filter((edge) => edge.endsWith('r')),
    ['o0 ==> r'],
  );
  t.notMatch(answer.body, /cost|usd|0\.\d{4}/i, 'no money in a public diagram');
  const again = await app.inject({ url, headers: { 'if-none-match': String(answer.headers.etag) } });
  t.match([again.statusCode, again.body], [304, '']);
});

t.test('ties and polls without votes', async (t) => {
  const poll = (chosen: (string | null)[], winning_option: string | null, is_tie: boolean) =>
    read(
      toMermaid({
        question: 'Which?',
        options: ['A', 'B', 'C'],
        tally: Object.fromEntries(['A', 'B', 'C'].map((o) => [o, chosen.filter((one) => one === o).length])),
        votes: chosen.map((chosen_option, i) => vote(`model ${i}`, chosen_option)),
        winning_option,
        is_tie,
      }),
    );
  const tie = poll(['A', 'C'], null, true);
  t.equal(tie.labels.r, 'Tie');
  t.same(tie.edges.slice(-2), ['o0 ==> r', 'o2 ==> r']);
  const none = poll([null, null], null, false);
  t.equal(none.labels.r, 'No winner');
  t.notOk(none.edges.some((edge) => edge.endsWith('r')));
});

const HOSTILE = [
  '"]; click m0 "javascript:alert(1)"',
  '"]\n  o9["x"]\n  o9 --> r',
  '%%{init: {"securityLevel":"loose"}}%%',
  '---\ntitle: x\n---',
  '%% comment',
  'end',
  'subgraph a',
  'graph TD',
  'style o0 fill:#fff;',
  'classDef a fill:#f00;',
  'linkStyle 0 stroke:red',
  'accTitle: x',
  '@{ shape: cloud }',
  ':::class',
  '`**bold**`',
  '$$\\href{javascript:alert(1)}{x}$$',
  '<img src=x onerror=alert(1)>',
  '&quot;&#34;',
  '#quot;',
  '#35;',
  '#',
  '\\"',
  '|a|',
  'a --> b',
  '\u2028\u2029\u0085',
  '\u202E\u2066',
  '__proto__',
  'constructor',
  '\u{E0041}',
  'ﬂ°°35¶ß',
];

t.test(
  'no text becomes syntax: the structure is that of the votes, and every label reads as it was written',
  async (t) => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
      fc.array(fc.constantFrom(...HOSTILE), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(' ')),
      fc.array(fc.constantFrom(...HOSTILE), { minLength: 1, maxLength: 4 }).map((parts) => parts.join('\n')),
    );
    fc.assert(
      fc.property(
        text,
        fc.uniqueArray(text, { minLength: 2, maxLength: 10 }),
        fc.array(fc.tuple(text, fc.nat(10)), { maxLength: 9 }),
        fc.boolean(),
        (question, options, drawn, is_tie) => {
          const votes = drawn.map(([model, option]) => vote(model, options[option] ?? null));
          const counts = options.map((option) => votes.filter((one) => one.chosen_option === option).length);
          const tally = Object.fromEntries(options.map((option, i) => [option, counts[i]!]));
          const winning_option = is_tie ? null : options[0]!;
          const code = toMermaid({ question, options, tally, votes, winning_option, is_tie });
          const { labels, edges } = read(code);
          const failed = votes.some((one) => one.chosen_option === null);
          const leaders = is_tie ? counts.filter((count) => count === Math.max(...counts)).length : 1;
          return (
            code.length < 50_000 &&
            Object.keys(labels).length === 2 + options.length + votes.length + Number(failed) &&
            edges.length === 2 * votes.length + leaders &&
            labels.q === shown(question) &&
            options.every((option, i) => labels[`o${i}`]?.startsWith(shown(`${option} (`)) ?? false) &&
            votes.every((one, i) => labels[`m${i}`] === shown(one.model_id))
          );
        },
      ),
      { numRuns: 2_000 },
    );
    const long = toMermaid({
      question: '"'.repeat(60_000),
      options: Array.from({ length: 10 }, (_, i) => `${i}${'\u{1F600}'.repeat(199)}`),
      tally: {},
      votes: [],
      winning_option: null,
      is_tie: false,
    });
    t.ok(long.length < 50_000, 'the longest texts still fit into what Mermaid reads');
  },
);

const shown = (text: string): string => text.replace(/\p{White_Space}+/gu, ' ').trim() || '\u00A0';

const vote = (model_id: string, chosen_option: string | null) => ({
  model_id,
  success: chosen_option !== null,
  chosen_option,
  transition: 'vote' as const,
  latency_ms: 1,
  estimated_cost: 0,
  error: chosen_option === null ? ('refusal' as const) : null,
});

/**
 * The part of Mermaid's grammar that we write, and nothing beyond it: nodes with a quoted label in which only letters,
 * digits, spaces and character codes stand, and bare edges. Mermaid itself is 200 MB of dependencies with a browser in
 * mind; its own parser, tried by hand, agreed on ten thousand such texts.
 */
function read(code: string): { labels: Record<string, string>; edges: string[] } {
  const [head, ...lines] = code.trimEnd().split('\n');
  if (head !== 'flowchart LR') throw new Error(`starts with ${head}`);
  const labels: Record<string, string> = {};
  const edges: string[] = [];
  for (const line of lines) {
    const node = /^ {2}([qnr]|[mo]\d+)\["((?:[\p{L}\p{N} ]|#\d{1,7};)+)"\]$/u.exec(line);
    const edge = /^ {2}(q --> m\d+|m\d+ --> o\d+|m\d+ -\.-> n|o\d+ ==> r)$/.exec(line);
    if (node && labels[node[1]!] === undefined) labels[node[1]!] = decoded(node[2]!);
    else if (edge) edges.push(edge[1]!);
    else throw new Error(`not ours: ${line}`);
  }
  for (const id of edges.flatMap((edge) => edge.split(/ [-=.>]+ /)))
    if (labels[id] === undefined) throw new Error(`an edge to ${id}, which is not there`);
  return { labels, edges };
}

const decoded = (label: string): string =>
  label.replace(/#(\d+);/g, (_code, point: string) => String.fromCodePoint(Number(point)));
