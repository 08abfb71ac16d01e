import t from 'tap';
import { isEnough, planIsOver } from '../src/faults/campaign-end.ts';
import type { Fault } from '../src/faults/fault-kinds.ts';
import type { Plan } from '../src/faults/plan.ts';
import { PLANS } from '../src/faults/plans.ts';

// A campaign that is about a fault ends with it, not before: how soon it finds a target depends on the machine.

const SIZES = { minutes: 0, kills: 3, stops: 0, polls: 1, workers: 3 };
const fault = (kind: Fault['kind'], more: Partial<Fault> = {}): Fault => ({
  kind,
  target: 'g1',
  at: 0,
  until: 1,
  ...more,
});
const kills = (kind: Fault['kind']) => Array.from({ length: 3 }, () => fault(kind));
const { signal } = new AbortController();

const ABOUT: [plan: Plan, others: Fault[], shown: Fault][] = [
  [PLANS.batches(SIZES), kills('kill gateway'), fault('kill gateway during an upload')],
  [PLANS.pooler(SIZES), kills('kill postgres'), fault('kill pooler')],
  [PLANS.cluster(SIZES), kills('kill master'), fault('kill master', { awayMs: 900 })],
];

t.test('kills of others are not enough, and neither is the time', async (t) => {
  for (const [plan, others, shown] of ABOUT) {
    t.notOk(isEnough(plan, 3, others), plan.title);
    t.ok(isEnough(plan, 3, [...others, shown]), plan.title);
    t.notOk(isEnough(plan, 30, [...others, shown]), plan.title);
    const faults = [...others];
    let over = false;
    const ends = planIsOver(plan, faults, signal).then(() => {
      over = true;
    });
    await planIsOver({ minutes: 0 }, [], signal);
    await planIsOver({ minutes: 0, isShown: () => false }, [], signal, 150);
    t.notOk(over, 'it goes on');
    faults.push(shown);
    await ends;
  }
});

t.test('a plan that counts its own faults takes no notice of kills', async (t) => {
  t.notOk(isEnough(PLANS.workers(SIZES), 0, kills('kill worker')));
  const service: Plan = PLANS.service(SIZES);
  t.ok(isEnough(service, 3, kills('kill worker')));
});
