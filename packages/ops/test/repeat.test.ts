import t from 'tap';
import { repeat } from '../src/repeat.ts';

t.test('goes on after an error, by the pause that a round asks for, and ends with what runs it', async (t) => {
  // Its own waits do not keep a process running.
  const awake = setInterval(() => {}, 60_000);
  t.teardown(() => clearInterval(awake));
  const errors: unknown[] = [];
  let rounds = 0;
  let isAborted = false;
  const fourth = Promise.withResolvers<void>();
  const repeated = repeat(
    async (signal) => {
      rounds += 1;
      if (rounds === 1) throw new Error('once');
      if (rounds < 4) return 1;
      fourth.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      isAborted = true;
      return undefined;
    },
    { everyMs: 5, firstMs: 0, onError: (error) => errors.push(error) },
  );
  await fourth.promise;
  t.match(errors, [{ message: 'once' }]);
  await repeated[Symbol.asyncDispose]();
  t.ok(isAborted);
  t.equal(rounds, 4);
});
