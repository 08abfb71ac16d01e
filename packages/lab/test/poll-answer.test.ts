import { seatsFor } from '@eloquentpoll/models/panels';
import { balanceOf, checkLedger } from '@eloquentpoll/storage';
import t from 'tap';
import { JURY, wholeService } from './whole-service.ts';

// What a poll answers, from request to stored result, through every process of the product: the votes are recorded ones,
// everything else is real.

const RECORDED = { 1: 'AAAAA', 2: 'AABBC', 3: '-----', 4: 'AAAB-', 5: 'AABB-', 6: 'ABCAA' };
const OPTIONS = ['A', 'B', 'C'];

t.test('one service for all of these', async (t) => {
  const service = await wholeService(t, RECORDED);
  const ask = async (id: number, more: object = {}) => {
    const answer = await service.app.inject({
      method: 'POST',
      url: '/api/poll',
      headers: service.headers,
      payload: { question: `Recorded question #${id}`, options: OPTIONS, preset: 'fast', ...more },
    });
    t.equal(answer.statusCode, 200);
    return answer.json();
  };

  await t.test(
    '[§2.2-poll-id, §2.2-status, §2.2-outcome-winner, §2.2-question, §2.2-options, §2.2-poll-type, §2.2-winning-option] ' +
      '[§2.2-is-tie, §2.2-confidence-threshold, §2.2-max-cost-usd, §2.2-early-terminated, §2.2-termination-reason] ' +
      '[§2.2-models-skipped, §2.2-tally, §2.2-votes, §1-fptp, §1-early-termination, §1-reason-mathematical-lock] ' +
      '[§1-poll-parameters, §1-way-sync] a unanimous jury locks the outcome early',
    async (t) => {
      const body = await ask(1, { confidence_threshold: 1, max_cost_usd: 0.4999999 });
      t.match(body.poll_id, /^EP-\d{4}-\d{2}-\d{2}-[0-9a-z]{16}$/);
      t.match(body, {
        status: 'success',
        outcome: 'A',
        question: 'Recorded question #1',
        poll_type: 'fptp',
        winning_option: 'A',
        is_tie: false,
        confidence_threshold: 1,
        max_cost_usd: 0.4999999,
        early_terminated: true,
        termination_reason: 'mathematical_lock',
        models_skipped: 2,
        confidence: 1,
      });
      t.same(body.options, OPTIONS);
      t.same(body.tally, { A: 3, B: 0, C: 0 });
      t.equal(body.votes.length, 3);
    },
  );

  await t.test(
    '[§2.3-model-id, §2.3-success, §2.3-chosen-option, §2.3-transition, §2.3-latency-ms, §2.3-estimated-cost] ' +
      '[§2.3-error, §2.2-costs-total, §2.2-timing-gather-ms, §2.2-timing-total-ms, §1-cost-estimated-usd] each vote is accounted for',
    async (t) => {
      const body = await ask(6, { confidence_threshold: 1 });
      for (const vote of body.votes) {
        t.ok(JURY.includes(vote.model_id.replace('sim/', '')));
        t.match(vote, { success: true, transition: 'vote', error: null });
        t.ok(OPTIONS.includes(vote.chosen_option));
        t.ok(Number.isInteger(vote.latency_ms));
        t.ok(vote.estimated_cost > 0);
      }
      const sum = body.votes.reduce(
        (total: number, vote: { estimated_cost: number }) => total + vote.estimated_cost,
        0,
      );
      t.equal(Math.round(body.costs.total_estimated_cost * 1e6), Math.round(sum * 1e6));
      t.ok(Number.isInteger(body.timing.gather_ms) && Number.isInteger(body.timing.total_ms));
      t.ok(body.timing.total_ms >= body.timing.gather_ms);
    },
  );

  await t.test('a poll that asks for reasons has one with each vote, public result included', async (t) => {
    const body = await ask(6, { confidence_threshold: 1, reasons: true });
    for (const vote of body.votes) t.match(vote.reason, /fits the question best/);
    const result = await service.app.inject(`/api/results/${body.poll_id}`);
    t.match(result.json().votes[0].reason, /fits the question best/);
    for (const vote of (await ask(6, { confidence_threshold: 1 })).votes) t.notOk('reason' in vote);
  });

  await t.test(
    '[§2.2-outcome-tie, §2.2-winning-option-null, §1-reason-panel-exhausted, §3.1-success] a tie of the full panel is an answer',
    async (t) => {
      t.match(await ask(2), {
        status: 'success',
        outcome: 'tie',
        winning_option: null,
        is_tie: true,
        early_terminated: false,
        termination_reason: 'roster_exhausted',
        models_skipped: 0,
        tally: { A: 2, B: 2, C: 1 },
        confidence: null,
      });
    },
  );

  await t.test(
    '[§2.2-outcome-no-votes, §2.3-chosen-option-null, §3.1-failed] a jury that refuses gives no vote and costs nothing',
    async (t) => {
      const before = await balanceOf(service.gateway.storage, service.accountId);
      const body = await ask(3);
      t.match(body, {
        status: 'failed',
        outcome: 'no_votes',
        winning_option: null,
        is_tie: false,
        costs: { total_estimated_cost: 0 },
      });
      t.ok(body.votes.every((vote: object) => 'error' in vote && vote.error === 'refusal'));
      t.match(body.votes[0], { success: false, chosen_option: null, estimated_cost: 0 });
      t.same(await balanceOf(service.gateway.storage, service.accountId), before);
    },
  );

  await t.test('[§3.1-partial] partial says that a missing vote could have changed the outcome', async (t) => {
    t.match(await ask(5), { status: 'partial', outcome: 'tie', is_tie: true });
    t.match(await ask(4), { status: 'success', outcome: 'A' }, 'one missing vote cannot reach a lead of two');
  });

  await t.test('[§1-reason-confidence] a lower threshold stops sooner', async (t) => {
    const body = await ask(1, { preset: 'fast', confidence_threshold: 0.5, options: ['A', 'B'] });
    t.match(body, { outcome: 'A', early_terminated: true });
    t.ok(['confidence', 'mathematical_lock'].includes(body.termination_reason));
  });

  await t.test('[§1-reason-budget] what does not fit into the budget is not asked', async (t) => {
    const paper = { question: 'Recorded question #6', options: OPTIONS, search: false, style: 'choice' as const };
    const pricePpm = service.gateway.config.pricePpm.fast;
    const reserves = seatsFor(service.gateway.panels.panel('fast'), paper, { pricePpm }).map((seat) => seat.reserve_u);
    // Only the cheapest model fits, and once it has voted no other does.
    const maxCostU = Math.min(...reserves);
    const body = await ask(6, { max_cost_usd: maxCostU / 1e6, confidence_threshold: 1, preset: 'fast' });
    t.match(body, { termination_reason: 'budget', early_terminated: true, status: 'partial' });
    t.equal(body.models_skipped, 4);
    t.ok(body.costs.total_estimated_cost * 1e6 <= maxCostU);
    const unasked = { status: 'failed', termination_reason: 'budget', max_cost_usd: 1e-9, votes: [] };
    t.match(await ask(6, { max_cost_usd: 1e-9 }), unasked, 'less than a micro-USD is an amount too');
  });

  await t.test('the books are right after all of it', async (t) => {
    t.same(await checkLedger(service.gateway.storage), []);
    t.equal((await balanceOf(service.gateway.storage, service.accountId))?.heldU, 0n);
  });
});
