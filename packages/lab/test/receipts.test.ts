import {
  type Receipted,
  receiptLeaf,
  receiptPrice,
  receiptSigner,
  statementOfLeaf,
  statementText,
} from '@eloquentpoll/polls';
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

/** The same poll as a worker of the release before would have signed it: failed models are absent from its odds. */
function byRulesOfVersion2(text: string): Statement {
  const { rule, decision, votes, ...statement } = JSON.parse(text) as Statement;
  const { confidence, chances, record } = votes.at(-1)!;
  const { record: _, ...rest } = decision;
  return {
    ...statement,
    votes,
    rule: { ...rule, version: 2 },
    decision: { ...rest, confidence: confidence!, chances: chances!, ...(record && { record }) },
  };
}

t.test('receipts of partial results, by the rules of each version', async (t) => {
  const signer = receiptSigner(Buffer.alloc(32, 8));
  const verified = async (poll: Receipted, statement: Statement) => {
    const receipt = { ...signer.sign(canonicalJson(statement)), proof: null, price: receiptPrice(poll) };
    return verifyReceipt(JSON.stringify(receipt), { keys: signer.keys });
  };
  const fallen = async (poll: Receipted, statement: Statement): Promise<PartName[]> =>
    (await verified(poll, statement)).parts.flatMap(({ name, state }) => (state === 'fails' ? [name] : []));
  const polls = Array.from({ length: 600 }, (_, i) => drawnPoll(`partial ${i}`)).filter(
    ({ response }) => response.status === 'partial' && response.votes.some(({ success }) => !success),
  );
  const isCourse = ({ response }: Receipted) => response.timing.arrivals !== undefined;
  t.ok(polls.some(({ response }) => response.track_record !== undefined));
  t.ok(polls.some((poll) => !isCourse(poll)));
  let certain = 0;
  for (const poll of polls) {
    const text = statementText(poll);
    const now = JSON.parse(text) as Statement;
    t.equal(now.rule.version, 3);
    t.same(await fallen(poll, now), []);
    const withoutCourse = { ...poll, response: withoutArrivals(poll.response) };
    t.same(await fallen(withoutCourse, JSON.parse(statementText(withoutCourse)) as Statement), []);
    if (!isCourse(poll)) continue;
    const before = byRulesOfVersion2(text);
    const { parts, isGood } = await verified(poll, before);
    t.ok(isGood);
    t.match(
      parts.find(({ name }) => name === 'odds'),
      { state: 'holds', says: /of version 2, models that failed count as absent/ },
    );
    const first = await verified(poll, { ...before, rule: { ...before.rule, version: 1 } });
    t.ok(first.isGood);
    t.equal(first.parts.find(({ name }) => name === 'odds')?.state, 'unchecked');
    if (before.decision.confidence !== 1) continue;
    certain += 1;
    const forged = { ...before, rule: now.rule };
    t.ok((await fallen(poll, forged)).includes('odds'), 'version 3 does not call it certain');
    t.ok((await fallen(poll, { ...now, rule: before.rule })).includes('odds'), 'nor version 2 uncertain');
  }
  t.ok(certain > 10, `${certain} that version 2 called certain`);
});

t.test('the hash of a result that a worker of the release before stored is found', async (t) => {
  const poll = Array.from({ length: 300 }, (_, i) => drawnPoll(`earlier ${i}`)).find(
    ({ response }) => response.status === 'partial' && response.confidence !== null && response.timing.arrivals,
  )!;
  const { confidence, chances, track_record } = poll.response.timing.arrivals!.at(-1)!;
  const { track_record: _, ...rest } = poll.response;
  const response = { ...rest, confidence, ...(chances && { chances }), ...(track_record && { track_record }) };
  const stored = { ...poll, response };
  const text = canonicalJson(byRulesOfVersion2(statementText(stored)));
  t.equal(statementOfLeaf(stored, receiptLeaf(text)), text);
  t.equal(statementOfLeaf(poll, receiptLeaf(statementText(poll))), statementText(poll));
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
