import { loadPanels, type Model, type Panels } from '@eloquentpoll/models/panels';
import { balanceOf, checkLedger } from '@eloquentpoll/storage';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';
import { stored } from '../fixtures/stored.ts';

// slow: 3 s

t.test(
  '[§4.1-poll-402, §7-402-balance] 200 polls at once that may cost $1 each, on $10: 10 run, 190 are 402',
  async (t) => {
    // So dear that the panel's worst case is above what the caller allows, and the hold is exactly that.
    const plain = loadPanels({ file: 'simulator' });
    const dear = (model: Model): Model => ({ ...model, price: { ...model.price, call: 5_000_000n } });
    const broad = { ...plain.panel('broad'), models: plain.panel('broad').models.map(dear) };
    const panels: Panels = { ...plain, panelOf: () => broad };
    const { app, context, keyWith } = await build(t, {}, { panels });
    const { bearer, accountId } = await keyWith(10);
    const gate = Promise.withResolvers<void>();
    await standInWorker(t, context, { holdUntil: gate.promise });

    // What may not run is answered at once; what may is kept waiting.
    const allAnswered = Promise.withResolvers<void>();
    let answered = 0;
    const asked = Array.from({ length: 200 }, async (_, n) => {
      const payload = {
        question: `Which of these is best, for the ${n}th time?`,
        options: ['A', 'B'],
        max_cost_usd: 1,
      };
      const ask = () => app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload });
      let answer = await ask();
      // On a busy machine some wait too long to be accepted, and do what a 503 or 429 says: ask again.
      for (let again = 0; [429, 503].includes(answer.statusCode) && again < 50; again++) answer = await ask();
      if (++answered === 190) allAnswered.resolve();
      return answer;
    });
    await allAnswered.promise;
    t.match(await balanceOf(context.storage, accountId), { postedU: 10_000_000n, heldU: 10_000_000n, availableU: 0n });
    t.match(await stored(context), { polls: 10, idempotency: 0, results: 0 });

    gate.resolve();
    const answers = await Promise.all(asked);
    const of = (status: number) => answers.filter(({ statusCode }) => statusCode === status);
    t.same([of(200).length, of(402).length], [10, 190]);
    for (const answer of of(402))
      t.match(answer.json().error, /may cost up to 1\.00 USD; the available balance is \d\.00/);
    const costs = of(200).map((answer) => answer.json().costs.total_estimated_cost * 1_000_000);
    const spent = BigInt(Math.round(costs.reduce((sum, cost) => sum + cost, 0)));
    t.match(await balanceOf(context.storage, accountId), { usageU: spent, heldU: 0n, availableU: 10_000_000n - spent });
    t.same(await checkLedger(context.storage), []);
  },
);
