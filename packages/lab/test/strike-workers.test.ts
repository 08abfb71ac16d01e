import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { strikeWorkers } from '../src/faults/strike-workers.ts';
import { runExperiment } from '../src/fixture/experiment.ts';
import { silent } from '../src/terminal/progress.ts';

// slow: 15 s

t.test('workers that are killed under load lose nothing and bill nothing twice', async (t) => {
  const servers = { databaseUrl: requireEnv('TEST_DATABASE_URL'), redisUrl: requireEnv('TEST_REDIS_URL') };
  const settings = { seed: 'short', kills: 2, stops: 0, polls: 20, inFlight: 10, workers: 3 };
  const report = await runExperiment(servers, new AbortController().signal, (bench) =>
    strikeWorkers(bench, settings, silent),
  );
  t.match(report.figures, { kills: 2, 'given up': 0 });
  t.ok(Number(report.figures['polls held by killed workers']) > 0, 'the victims were at work');
  for (const { rule, examples } of report.rules) t.same(examples, [], rule);
});
