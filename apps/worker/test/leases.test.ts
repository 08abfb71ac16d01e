import { LEASE_MS, type Renewed } from '@eloquentpoll/storage';
import t from 'tap';
import type { Clock } from '../src/clock.ts';
import { keepLeases } from '../src/leases.ts';

// Leases of a process that is paused at the worst moments: it must know before it goes on what is still its own.

/** A clock that the test moves. `callBack`: ends only the waits of this length, so that no renewal comes by itself. */
function handClock(): Clock & { pass(ms: number): void; callBack(ms: number): void } {
  let now = 0;
  let waits: { ms: number; callback: () => void }[] = [];
  return {
    now: () => now,
    after(ms, callback) {
      waits.push({ ms, callback });
      return () => {};
    },
    pass(ms) {
      now += ms;
    },
    callBack(ms) {
      const due = waits.filter((wait) => wait.ms === ms);
      waits = waits.filter((wait) => wait.ms !== ms);
      for (const { callback } of due) callback();
    },
  };
}

const wanted = new AbortController().signal;

const settled = async (promise: Promise<unknown>): Promise<boolean> => {
  let done = false;
  void promise.then(() => {
    done = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  return done;
};

function bench() {
  const clock = handClock();
  /** `locked`: how many milliseconds are left of leases that could not be extended. */
  type Answer = (ours: string[], locked?: Record<string, number>) => void;
  const asked: { ids: string[]; answer: Answer; refuse: (error: Error) => void }[] = [];
  const renew = (_worker: string, leases: readonly { id: string }[]) =>
    new Promise<Renewed[]>((resolve, refuse) => {
      const answer: Answer = (ours, locked = {}) => {
        const left = [...ours.map((id): [string, number] => [id, LEASE_MS]), ...Object.entries(locked)];
        resolve(left.map(([id, leftMs]) => ({ id, isCanceled: false, leftMs })));
      };
      asked.push({ ids: leases.map(({ id }) => id), answer, refuse });
    });
  const leases = keepLeases({ renew }, 'w1', clock, () => {});
  return { clock, asked, leases };
}

t.test('a young lease is confirmed without a question', async (t) => {
  const { clock, asked, leases } = bench();
  const lease = leases.hold('p', 1, clock.now());
  clock.pass(LEASE_MS - 1);
  t.ok(await settled(lease.ensureFresh(wanted)));
  t.ok(lease.isFresh());
  t.equal(asked.length, 0);
  clock.pass(1);
  t.notOk(lease.isFresh(), 'from then on it has to be confirmed');
});

t.test('an answer that arrives after another pause is asked for again, until one is fresh', async (t) => {
  const { clock, asked, leases } = bench();
  const lease = leases.hold('p', 1, clock.now());
  clock.pass(LEASE_MS);
  const fresh = lease.ensureFresh(wanted);
  for (let pause = 0; pause < 4; pause++) {
    t.notOk(await settled(fresh));
    t.equal(asked.length, pause + 1);
    clock.pass(LEASE_MS);
    asked[pause]!.answer(['p']);
  }
  t.notOk(await settled(fresh));
  asked[4]!.answer([]);
  t.ok(await settled(fresh));
  t.ok(lease.lost.aborted, 'and the fresh one says that another worker has it');
});

t.test('Postgres does not answer: a lease that has ended is not fresh until it says whose the poll is', async (t) => {
  const { clock, asked, leases } = bench();
  const lease = leases.hold('p', 1, clock.now());
  clock.pass(LEASE_MS);
  const fresh = lease.ensureFresh(wanted);
  for (const [n, round] of [0, 2].entries()) {
    asked[round]!.refuse(new Error('away'));
    t.notOk(await settled(fresh));
    asked[round + 1]!.refuse(new Error('away'));
    t.notOk(await settled(fresh), 'perhaps only this worker cannot reach it');
    t.notOk(lease.isFresh());
    t.notOk(lease.lost.aborted);
    t.equal(asked.length, round + 2, 'and it is not asked again at once');
    clock.callBack(500);
    await settled(fresh);
    t.equal(asked.length, round + 3, `but soon, time ${n + 1}`);
  }
  asked[4]!.answer(['p']);
  t.ok(await settled(fresh));
  t.ok(lease.isFresh());
});

t.test('a wait for Postgres ends when the call is not wanted any more', async (t) => {
  const { clock, asked, leases } = bench();
  const lease = leases.hold('p', 1, clock.now());
  clock.pass(LEASE_MS);
  const call = new AbortController();
  const fresh = lease.ensureFresh(call.signal);
  asked[0]!.refuse(new Error('away'));
  await settled(fresh);
  asked[1]!.refuse(new Error('away'));
  call.abort();
  t.notOk(await settled(fresh));
  clock.callBack(500);
  t.ok(await settled(fresh));
  t.equal(asked.length, 2);
  t.notOk(lease.isFresh(), 'which does not make the lease fresh');
});

t.test('a wait for Postgres ends with its poll', async (t) => {
  const { clock, asked, leases } = bench();
  const lease = leases.hold('p', 1, clock.now());
  clock.pass(LEASE_MS);
  const fresh = lease.ensureFresh(wanted);
  asked[0]!.refuse(new Error('away'));
  await settled(fresh);
  asked[1]!.refuse(new Error('away'));
  t.notOk(await settled(fresh));
  lease[Symbol.dispose]();
  clock.callBack(500);
  t.ok(await settled(fresh));
});

t.test('a connection that broke while the process was paused does not confirm a lease', async (t) => {
  const { clock, asked, leases } = bench();
  const lease = leases.hold('p', 1, clock.now());
  clock.pass(LEASE_MS);
  const fresh = lease.ensureFresh(wanted);
  asked[0]!.refuse(new Error('broken'));
  t.notOk(await settled(fresh));
  asked[1]!.answer([]);
  t.ok(await settled(fresh));
  t.ok(lease.lost.aborted, 'asked again, Postgres says whose it is');
});

t.test('a lease that is given back ends every wait for it', async (t) => {
  const { clock, asked, leases } = bench();
  const lease = leases.hold('p', 1, clock.now());
  clock.pass(LEASE_MS);
  const fresh = lease.ensureFresh(wanted);
  lease[Symbol.dispose]();
  clock.pass(LEASE_MS);
  asked[0]!.answer([]);
  t.ok(await settled(fresh));
  t.equal(leases.size, 0);
});

t.test('an answer to a question that was asked before a poll was claimed does not speak of it', async (t) => {
  const { clock, asked, leases } = bench();
  const first = leases.hold('one', 1, clock.now());
  clock.pass(LEASE_MS);
  const fresh = first.ensureFresh(wanted);
  const second = leases.hold('two', 1, clock.now());
  asked[0]!.answer(['one']);
  t.ok(await settled(fresh));
  t.notOk(second.lost.aborted);
});

t.test('a renewal that could not extend a lease, because its row was locked, makes it no younger', async (t) => {
  const { clock, asked, leases } = bench();
  const [locked, other] = [leases.hold('locked', 1, clock.now()), leases.hold('other', 1, clock.now())];
  clock.pass(7_500);
  leases.look('locked');
  await settled(Promise.resolve());
  asked[0]!.answer(['other'], { locked: 500 });
  await settled(Promise.resolve());
  clock.pass(499);
  t.ok(locked.isFresh(), 'it lasts as long as was known');
  clock.pass(1);
  t.notOk(locked.isFresh(), 'and no longer');
  t.ok(other.isFresh());
  const fresh = locked.ensureFresh(wanted);
  t.equal(asked.length, 2);
  asked[1]!.answer(['other']);
  t.ok(await settled(fresh));
  t.ok(locked.lost.aborted);
  t.notOk(other.lost.aborted);
});

t.test('a locked lease that ends later than its worker knew is fresh until then, after one question', async (t) => {
  const { clock, asked, leases } = bench();
  const lease = leases.hold('p', 1, clock.now());
  clock.pass(LEASE_MS);
  const fresh = lease.ensureFresh(wanted);
  asked[0]!.answer([], { p: 40 });
  t.ok(await settled(fresh), 'the claim was made 40 ms after it was sent');
  clock.pass(39);
  t.ok(lease.isFresh());
  clock.pass(1);
  t.notOk(lease.isFresh());
  t.equal(asked.length, 1);
});
