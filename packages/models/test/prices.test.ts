import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { type Bill, BYTES_PER_TOKEN, billedU, countedUsage, guessedUsage, listPrice } from '../src/billing.ts';
import { voteMaxU } from '../src/call-costs.ts';
import { loadPanels, maxCallCostOf, type PollText, promptStyle, seatsFor, typicalCostsFor } from '../src/panels.ts';
import { costOf, parseUsd, withFee } from '../src/price.ts';
import { composePrompt } from '../src/prompt.ts';
import { answerBytes, readProviderCost, readUsage } from '../src/read-answer.ts';
import { requestBody } from '../src/request-body.ts';
import { FORGERIES } from './forgeries.ts';
import { completion } from './misbehaving-server.ts';

const bill = (more: Partial<Bill> = {}): Bill => ({ searched: false, pricePpm: 1_000_000, reserveU: 1e9, ...more });

const panels = loadPanels({ file: 'openrouter' });
const simulated = loadPanels({ file: 'simulator' });
const models = [...panels.models(), ...simulated.models()];
const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.constantFrom(...FORGERIES));
const paper: fc.Arbitrary<PollText> = fc.record({
  question: text,
  options: fc.uniqueArray(text, { minLength: 2, maxLength: 10 }),
  search: fc.boolean(),
  style: fc.constantFrom('choice' as const, 'rationale' as const),
});

t.test('a price survives its way into micro-USD exactly', async (t) => {
  fc.assert(
    fc.property(fc.nat(999_999), fc.nat(999_999), (whole, micro) => {
      const text = `${whole}.${String(micro).padStart(6, '0')}`;
      return parseUsd(text) === BigInt(whole) * 1_000_000n + BigInt(micro);
    }),
  );
  t.equal(parseUsd('0.1'), 100_000n);
  t.equal(parseUsd(1.25), 1_250_000n, 'a JSON number is read like its text');
  t.equal(parseUsd(0.1 + 0.2), null, 'a sum of floats is refused, not rounded');
  for (const wrong of [
    '',
    ' 1',
    '1 ',
    '+1',
    '-1',
    '01',
    '.5',
    '1.',
    '1e3',
    '0x1',
    'NaN',
    'Infinity',
    '1,5',
    '1.2345678',
    1e21,
    1e-7,
    -0.1,
    Number.NaN,
    null,
    true,
    {},
    [],
    [1],
    1n,
    { toString: () => '1' },
  ])
    t.equal(parseUsd(wrong), null, `${String(wrong)} is no price`);
});

t.test('a list price is exact, and rounded up to the next micro-USD', async (t) => {
  t.equal(listPrice(10_000_000_000n, 1_000_000), 10_000_000_000n);
  t.equal(listPrice(10_000_000_000n, 1_500_000), 15_000_000_000n);
  t.equal(listPrice(1n, 1_000_001), 2n);
  t.equal(listPrice(1_000_000n, 1_000_001), 1_000_001n);
});

t.test('a bill is rounded up once', async (t) => {
  t.equal(costOf({ input: 1n, output: 0n, call: 0n }, 1, 0), 1n);
  t.equal(costOf({ input: 1_000_000n, output: 0n, call: 0n }, 3, 0), 3n);
  t.equal(costOf({ input: 75_000n, output: 300_000n, call: 5n }, 10, 10), 9n);
  t.equal(costOf({ input: 0n, output: 0n, call: 0n }, 100, 100), 0n);
  t.equal(costOf({ input: 1_000_000n, output: 2_000_000n, call: 7n }, 3_000_000, 2_000_000), 7_000_007n);
});

t.test('no honest usage of any model costs more than a call of it can', async (t) => {
  fc.assert(
    fc.property(paper, fc.constantFrom(...models), fc.nat(30), fc.string(), (paper, model, seat, seed) => {
      const provider = (model.id.startsWith('sim/') ? simulated : panels).provider(model.provider);
      const prompt = composePrompt({ ...paper, seat, seed });
      const body = requestBody({
        model,
        provider,
        prompt,
        style: paper.style,
        search: paper.search,
        repair: true,
      });
      // Every token stands for at least one byte of what was sent, whatever the tokenizer.
      const messages = body.messages as { content: string }[];
      const sent = messages.map(({ content }) => content).join('');
      const schema = JSON.stringify(body.response_format ?? body.tools ?? '');
      const reply = completion(
        {},
        { usage: { prompt_tokens: Buffer.byteLength(sent + schema), completion_tokens: model.maxOutputTokens } },
      );
      const maxU = Number(maxCallCostOf(model, paper));
      const usage = countedUsage(model, reply, { searched: paper.search, callMaxU: maxU });
      if (!usage) throw new Error(`${model.id} is not believed`);
      if (billedU(model, usage, bill({ searched: paper.search })) > maxU) throw new Error(`${model.id} can cost more`);
    }),
    { numRuns: 1000 },
  );
  t.pass('no reply costs more than was reckoned with');
});

t.test('a provider that counts too much is paid by us, never by the customer', async (t) => {
  const model = panels.model('openai/gpt-5.6-sol')!;
  const reply = completion({}, { usage: { prompt_tokens: 4_000_000, completion_tokens: 90_000 } });
  t.equal(billedU(model, readUsage(reply)!, bill({ reserveU: 61_000 })), 61_000);
});

t.test('what no call can have come to is not believed', async (t) => {
  const model = panels.model('openai/gpt-5.6-sol')!;
  const said = (total_tokens: number) =>
    completion({}, { usage: { prompt_tokens: 400, completion_tokens: 20, total_tokens } });
  const callMaxU = Number(costOf(model.price, 400, model.maxOutputTokens));
  const terms = { searched: false, callMaxU };
  const reasoned = 400 + 3 * model.maxOutputTokens;
  t.same(
    countedUsage(model, said(reasoned), terms),
    { inputTokens: 400, outputTokens: reasoned - 400 },
    'reasoning is',
  );
  for (const total of [400 + 5 * model.maxOutputTokens, 100_000_000])
    t.equal(countedUsage(model, said(total), terms), null);
});

t.test('without usage a bill is estimated from the bytes and stays below the reserve', async (t) => {
  const model = panels.model('openai/gpt-5.6-sol')!;
  const reply = completion({ content: 'x'.repeat(400) }, { usage: undefined });
  const usage = guessedUsage(model, answerBytes(reply), 'y'.repeat(4000));
  const billed = billedU(model, usage, bill());
  t.ok(billed > 1000 * 5 && billed < 1000 * 5 + 130 * 30, String(billed));
  t.equal(billedU(model, usage, bill({ reserveU: 10 })), 10);
});

t.test("a provider's fee is in its models' bills, bounds and estimates, once", async (t) => {
  t.equal(withFee(1_000n, 0), 1_000n);
  t.equal(withFee(1_000n, 55_000), 1_055n);
  t.equal(withFee(1n, 55_000), 2n, 'rounded up');
  const paper: PollText = { question: 'Which?', options: ['a', 'b'], search: true, style: 'choice' };
  const free = panels.panel('fast').models.map((model) => ({ ...model, feePpm: 0 }));
  const plain = { ...panels.panel('fast'), models: free };
  const fee = (costU: number | undefined) => Number(withFee(BigInt(costU!), 55_000));
  const seats = seatsFor(panels.panel('fast'), paper);
  for (const [i, seat] of seatsFor(plain, paper).entries()) {
    t.equal(seats[i]!.call_max_u, fee(seat.call_max_u), seat.model_id);
    t.equal(seats[i]!.call_typical_u, fee(seat.call_typical_u), seat.model_id);
  }
  t.equal(readProviderCost({ usage: { cost: 0.001 } }, 55_000), 1_055);
  const ownKey = { cost: 0.001, is_byok: true, cost_details: { upstream_inference_cost: 0.01 } };
  t.equal(readProviderCost({ usage: ownKey }, 55_000), 11_055, 'not of what the vendor itself bills');
});

t.test('an estimate rounds bytes up to tokens, on both sides', async (t) => {
  const model = panels.model('openai/gpt-5.6-sol')!;
  for (const more of [0, 1, 2, 3]) {
    const asked = 'y'.repeat(4_000 + more);
    const answered = completion({ content: 'x'.repeat(401 + more) }, { usage: undefined });
    const tokens = (bytes: number) => (bytes % BYTES_PER_TOKEN === 0 ? 0 : 1) + Math.trunc(bytes / BYTES_PER_TOKEN);
    const listedU = costOf(model.price, tokens(4_000 + more), tokens(answerBytes(answered)));
    const expected = withFee(listedU, 55_000);
    t.equal(
      billedU(model, guessedUsage(model, answerBytes(answered), asked), bill()),
      Number(expected),
      `${more} bytes more`,
    );
  }
});

t.test('a search is billed once, where one was asked for and has a price', async (t) => {
  const model = [...panels.models()].find(({ search }) => search && search.feeU > 0n)!;
  const reply = completion({}, { usage: { prompt_tokens: 1_000, completion_tokens: 10 } });
  const tokens = costOf(model.price, 1_000, 10);
  const usage = readUsage(reply)!;
  t.equal(billedU(model, usage, bill()), Number(withFee(tokens, 55_000)));
  t.equal(billedU(model, usage, bill({ searched: true })), Number(withFee(tokens + model.search!.feeU, 55_000)));
});

t.test('seats carry what the poll needs, in the order of the panel [§1-cost-estimated-usd]', async (t) => {
  const paper: PollText = {
    question: 'Which of these is best?',
    options: ['a', 'b'],
    search: false,
    style: 'rationale',
  };
  const records = new Map([['x-ai/grok-4.6', { failureRate: 0.25, p90Ms: 7777.4 }]]);
  const seats = seatsFor(panels.panel('strong'), paper, { records });
  t.same(
    seats.map((seat) => seat.model_id),
    panels.panel('strong').models.map((model) => model.id),
  );
  const seat = seats.find((one) => one.model_id === 'x-ai/grok-4.6')!;
  t.match(seat, { failure_rate: 0.25, p90_ms: 7777, family: 'x-ai' });
  t.equal(seats[0]!.failure_rate, 0);
  t.ok(seats.every((one) => Number.isSafeInteger(one.reserve_u) && one.reserve_u > 0));
  const searched = seatsFor(panels.panel('strong'), { ...paper, search: true });
  t.ok(
    searched.every((one, i) => one.reserve_u > seats[i]!.reserve_u + 12_000),
    'a search is reserved too',
  );
});

/** What the default settings of the gateway make of 22, 27 and 8 % aborted calls and 5.9 % of fees. */
const DEFAULT_PPM = { broad: 1_362_435, fast: 1_455_753, strong: 1_155_108 };

t.test('a whole panel of either file fits into the default budget of one dollar', async (t) => {
  const paper: PollText = {
    question: 'x'.repeat(2000),
    options: Array.from({ length: 10 }, (_, i) => `${i}${'y'.repeat(199)}`),
    search: false,
    style: 'rationale',
  };
  for (const set of [panels, simulated])
    for (const name of ['broad', 'strong', 'fast'] as const) {
      const pricePpm = DEFAULT_PPM[name];
      const total = seatsFor(set.panel(name), paper, { pricePpm }).reduce((sum, seat) => sum + seat.reserve_u, 0);
      t.ok(total < 1_000_000, `${name}: ${total}`);
    }
});

t.test('a vote typically costs something, and never more than is reserved for it', async (t) => {
  fc.assert(
    fc.property(
      paper,
      fc.constantFrom(panels, simulated),
      fc.constantFrom('broad' as const, 'fast' as const, 'strong' as const, 'free_search' as const),
      (paper, set, name) => {
        const seats = seatsFor(set.panel(name), paper);
        const costs = typicalCostsFor(set.panel(name), paper);
        return costs.length === seats.length && costs.every((cost, i) => cost > 0n && cost <= seats[i]!.call_max_u!);
      },
    ),
  );
  t.pass('no typical cost is above the reserve of its seat');
});

t.test('what is typical follows what is asked: reasons, thoughts, searches', async (t) => {
  const short: PollText = {
    question: 'Which of these is best?',
    options: ['a', 'b'],
    search: false,
    style: 'choice',
  };
  const costs = (paper: Partial<PollText>) => typicalCostsFor(simulated.panel('broad'), { ...short, ...paper });
  const { models } = simulated.panel('broad');
  for (const [i, cost] of costs({ style: 'rationale' }).entries()) {
    const { id, reasoning } = models[i]!;
    if (reasoning === 'low') t.equal(cost, costs({})[i], `${id} thinks either way and is asked for no reason`);
    else t.ok(cost > costs({})[i]!, `${id} writes a reason`);
  }
  for (const [i, cost] of costs({ search: true }).entries())
    if (models[i]!.search) t.ok(cost > costs({})[i]! + models[i]!.search!.feeU, `${models[i]!.id} pays its search`);
});

t.test('only a fast poll asks for the bare choice', async (t) => {
  t.same(
    ['broad', 'strong', 'free', 'free_search'].map((name) => promptStyle({ panel_name: name as 'broad' })),
    ['rationale', 'rationale', 'rationale', 'rationale'],
  );
  t.equal(promptStyle({ panel_name: 'fast' }), 'choice');
  t.equal(promptStyle({ panel_name: 'fast', reasons: true }), 'reason');
});

t.test('a reserve covers what the calls before the vote cost, and the vote at its price', async (t) => {
  const paper: PollText = { question: 'Which of these is best?', options: ['a', 'b'], search: false, style: 'choice' };
  const atCost = seatsFor(panels.panel('fast'), paper);
  for (const seat of atCost) t.equal(seat.reserve_u, voteMaxU(seat.call_max_u!));
  for (const [i, seat] of seatsFor(panels.panel('fast'), paper, { pricePpm: 2_069_889 }).entries()) {
    t.equal(seat.call_max_u, atCost[i]!.call_max_u, 'a margin changes no cost');
    const priceU = Math.ceil((seat.call_max_u! * 2_069_889) / 1_000_000);
    t.equal(seat.reserve_u, priceU + Math.floor(seat.call_max_u! / 2));
  }
});
