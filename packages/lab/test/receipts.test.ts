import { type Receipted, receiptPrice, receiptSigner, statementText } from '@eloquentpoll/polls';
import { canonicalJson, type PartName, type Statement, verifyReceipt } from '@eloquentpoll/receipts';
import { seed } from '@eloquentpoll/testkit/seed';
import t from 'tap';
import { drawnPoll } from '../src/receipts/drawn-polls.ts';
import { FALSE_STATEMENTS } from '../src/receipts/forgeries.ts';
import { sealedDay } from '../src/receipts/sealed-day.ts';
import { verifyMany } from '../src/receipts/verify-many.ts';

t.test('receipts of polls that could have run hold, and forged ones are refused', async (t) => {
  const found = await verifyMany(300, 240, String(seed));
  t.same(found.failed, []);
  t.same(found.accepted, []);
  t.same([...found.reasons.keys()].sort(), [
    'budget',
    'confidence',
    'deadline',
    'mathematical_lock',
    'roster_exhausted',
  ]);
  for (const part of ['signature', 'inclusion', ...FALSE_STATEMENTS.map(({ part }) => part)] as const)
    t.ok(found.refusedBy.has(part), `some fail by their ${part}`);
});

t.test('without its price a receipt of a poll that spent its budget says what it takes', async (t) => {
  const signer = receiptSigner(Buffer.alloc(32, 5));
  const poll = Array.from({ length: 300 }, (_, i) => drawnPoll(`budget ${i}`)).find(
    ({ response }) => response.termination_reason === 'budget',
  )!;
  const statement = statementText(poll);
  const day = sealedDay('2026-11-20', [statement]);
  const receipt = { ...signer.sign(statement), proof: day.proofOf(statement) };
  const { parts, isGood } = await verifyReceipt(JSON.stringify(receipt), { keys: signer.keys, days: [day.published] });
  t.ok(isGood);
  t.match(
    parts.find(({ name }) => name === 'decision'),
    { state: 'unchecked', says: /takes the price/ },
  );
});

t.test('a receipt whose votes two workers received holds by what the track record said at the end', async (t) => {
  const signer = receiptSigner(Buffer.alloc(32, 6));
  const fallen = async (poll: Receipted, statement: string): Promise<PartName[]> => {
    const receipt = { ...signer.sign(statement), proof: null, price: receiptPrice(poll) };
    const { parts } = await verifyReceipt(JSON.stringify(receipt), { keys: signer.keys });
    return parts.filter(({ state }) => state === 'fails').map(({ name }) => name);
  };
  const polls = Array.from({ length: 400 }, (_, i) => drawnPoll(`replaced ${i}`))
    .filter(({ response }) => response.track_record !== undefined)
    .map((poll) => ({ ...poll, response: withoutArrivals(poll.response) }));
  t.ok(polls.some(({ response }) => response.termination_reason === 'confidence'));
  for (const poll of polls) {
    const text = statementText(poll);
    t.same(await fallen(poll, text), []);
    const statement = JSON.parse(text) as Statement;
    if ((statement.decision.confidence ?? 0) < 0.01) continue;
    const record = { audits: 100_000, same_leader: 0 };
    const other = { ...statement, decision: { ...statement.decision, record } };
    t.ok((await fallen(poll, canonicalJson(other))).includes('odds'), 'another record gives other odds');
  }
});

t.test(
  'a published result with other odds than the receipt is refused, an older one without them is not',
  async (t) => {
    const signer = receiptSigner(Buffer.alloc(32, 7));
    type Published = Receipted['response'];
    type Odds = Pick<Published, 'confidence' | 'chances' | 'track_record'>;
    const other = (chance: number | null) => (chance === null ? 0.5 : chance > 0.5 ? chance / 2 : chance + 0.25);
    const forgeries: readonly ((odds: Odds) => Partial<Odds> | null)[] = [
      ({ confidence }) => ({ confidence: other(confidence) }),
      ({ chances }) => (chances ? { chances: chances.with(0, other(chances[0]!)) } : null),
      ({ track_record }) => ({ track_record: { audits: (track_record?.audits ?? 0) + 1, same_leader: 1 } }),
    ];
    const withArrival = (response: Published, at: number, change: Partial<Odds>): Published => {
      const arrivals = response.timing.arrivals!;
      return {
        ...response,
        timing: { ...response.timing, arrivals: arrivals.with(at, { ...arrivals[at]!, ...change }) },
      };
    };
    const polls = Array.from({ length: 60 }, (_, i) => drawnPoll(`published ${i}`));
    t.ok(
      polls.some(({ response }) => response.track_record),
      'some have a record',
    );
    let refused = 0;
    for (const [i, poll] of polls.entries()) {
      const { response } = poll;
      const receipt = JSON.stringify({ ...signer.sign(statementText(poll)), proof: null, price: receiptPrice(poll) });
      const stateOf = async (result: Published) => {
        const { parts } = await verifyReceipt(receipt, { keys: signer.keys, result });
        return parts.find(({ name }) => name === 'result')?.state;
      };
      t.equal(await stateOf(response), 'holds');
      const { chances: _chances, track_record: _record, ...older } = withoutArrivals(response);
      t.equal(await stateOf(older), 'holds', 'as before odds were kept');
      const arrivals = response.timing.arrivals ?? [];
      const at = i % Math.max(1, arrivals.length);
      for (const forge of forgeries) {
        const [final, onTheWay] = [forge(response), arrivals[at] && forge(arrivals[at])];
        const forged = [
          ...(final ? [{ ...response, ...final }] : []),
          ...(onTheWay ? [withArrival(response, at, onTheWay)] : []),
        ];
        for (const result of forged) t.equal(await stateOf(result), 'fails');
        refused += forged.length;
      }
    }
    t.ok(refused > 3 * polls.length, 'finally and on the way');
  },
);

const withoutArrivals = ({ timing, ...response }: Receipted['response']): Receipted['response'] => {
  const { arrivals: _arrivals, ...times } = timing;
  return { ...response, timing: times };
};
