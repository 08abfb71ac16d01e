import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findPrometheus } from './prometheus.ts';
import { runProgram } from './run-program.ts';

// Runs rules over made-up series with promtool, which evaluates them exactly as Prometheus does, with time passing.

export interface RuleTimeline {
  /** Values by series, one per interval, in promtool's notation: `0x10` is 0 and ten repetitions, `_` a missing value. */
  series: Readonly<Record<string, string>>;
  /** Time between two values. */
  interval: string;
  /** What each alarm says at that time: the labels of each that fires, except its name. */
  expected: readonly { at: string; alarm: string; fires: readonly Readonly<Record<string, string>>[] }[];
}

const WITHIN_MS = 30_000;

export interface Promtool {
  /** Null if every expectation holds, otherwise what promtool prints. */
  check(rules: unknown, timeline: RuleTimeline): Promise<string | null>;
}

/** Comes with Prometheus. */
export async function findPromtool(env: NodeJS.ProcessEnv = process.env): Promise<Promtool> {
  const program = await findPrometheus('promtool', env);
  return {
    async check(rules, { series, interval, expected }) {
      const folder = mkdtempSync(join(tmpdir(), 'promtool-'));
      try {
        writeFileSync(join(folder, 'rules.json'), JSON.stringify(rules));
        writeFileSync(
          join(folder, 'test.json'),
          JSON.stringify({
            rule_files: ['rules.json'],
            evaluation_interval: '30s',
            tests: [
              {
                interval,
                input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
                alert_rule_test: expected.map(({ at, alarm, fires }) => ({
                  eval_time: at,
                  alertname: alarm,
                  exp_alerts: fires.map((labels) => ({ exp_labels: labels })),
                })),
              },
            ],
          }),
        );
        const args = [...program.args, 'test', 'rules', 'test.json'];
        const { ok, output } = await runProgram(program.file, args, { env: program.env, cwd: folder }, WITHIN_MS);
        return ok ? null : output;
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  };
}
