import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { parseOptions, runCommand, UsageError, wholeNumber } from '../terminal/command.ts';
import { presentCode } from './continued.ts';
import { proofPage, withoutStandings } from './page.ts';
import { openRevisions } from './revisions.ts';
import { PROOF_ROWS, SECTIONS } from './rows.ts';
import { appendRun, type Run } from './run.ts';
import { readSources } from './sources.ts';

// npm run proof: writes docs/proof.md from the rows and the recorded runs. With --check, exit code 1 if it is outdated.

const USAGE = `usage: npm run proof -- [--check]
       npm run proof -- --record ID --figure TEXT --command TEXT [--note TEXT] [--count NAME=N]... [--short]

  --check         writes nothing; exit code 1 if docs/proof.md is not what its sources say
  --record ID     adds what was measured by hand to docs/proofs/recorded.jsonl, with today's date and this revision
  --figure TEXT   what was measured, in a few words
  --command TEXT  what measured it
  --note TEXT     what else there is to say
  --count NAME=N  a count that adds up, such as polls=700; as often as there are
  --short         the target was not reached
`;

const PAGE = join(root, 'docs/proof.md');
const RECORDED = join(root, 'docs/proofs/recorded.jsonl');

await runCommand(USAGE, async () => {
  const options = parseOptions(process.argv.slice(2), {
    check: { type: 'boolean', default: false },
    record: { type: 'string' },
    figure: { type: 'string' },
    command: { type: 'string' },
    note: { type: 'string' },
    count: { type: 'string', multiple: true, default: [] },
    short: { type: 'boolean', default: false },
  });
  if (options.record !== undefined) await appendRun(RECORDED, await recordOf(options.record, options));
  const page = await proofPage({ ...(await readSources()), sections: SECTIONS, revisions: await openRevisions(root) });
  const committed = await readFile(PAGE, 'utf8').catch(() => '');
  if (options.check) {
    const isSame = withoutStandings(page) === withoutStandings(committed);
    console.log(
      isSame
        ? 'docs/proof.md is what its sources say'
        : 'docs/proof.md is not what its sources say; run: npm run proof',
    );
    return isSame ? 0 : 1;
  }
  await writeFile(PAGE, page);
  console.log(
    `docs/proof.md: ${page === committed ? 'unchanged' : 'written'}, ${page.split('- Code: **stale**').length - 1} stale rows`,
  );
  return 0;
});

interface Recorded {
  figure?: string | undefined;
  command?: string | undefined;
  note?: string | undefined;
  count: readonly string[];
  short: boolean;
}

async function recordOf(id: string, { figure, command, note, count, short }: Recorded): Promise<Run> {
  if (!PROOF_ROWS.some((row) => row.id === id)) throw new UsageError(`there is no promise "${id}"`);
  if (figure === undefined || command === undefined) throw new UsageError('--record needs --figure and --command');
  const { revision, codeOf } = await presentCode();
  const code = codeOf(id);
  return {
    experiment: id,
    at: new Date().toISOString().slice(0, 10),
    revision,
    ...(code && { code }),
    seed: null,
    cores: availableParallelism(),
    command,
    holds: !short,
    counts: Object.fromEntries(count.map(countOf)),
    figure,
    ...(note !== undefined && { note }),
  };
}

function countOf(text: string): [string, number] {
  const [, name, value] = /^(.+)=(.*)$/.exec(text) ?? [];
  if (name === undefined) throw new UsageError(`--count is NAME=N, not "${text}"`);
  return [name, wholeNumber('--count', value!, 0, Number.MAX_SAFE_INTEGER)];
}
