import type { Batch } from '../eloquentpoll.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { plain } from './plain-text.ts';
import { print } from './terminal.ts';

/** Stops a running poll or batch and says how it ended. */
export async function cancelCommand({ polls, terminal, json }: Invocation, id: string): Promise<Exit> {
  const { out, signal } = terminal;
  if (id.startsWith('pb_')) {
    const batch = await polls.batchRun(id).cancel({ signal });
    print(out, json ? jsonText(batch) : batchSentence(batch));
    return EXIT.winner;
  }
  const ended = await polls.session(id).cancel({ signal });
  if (json) print(out, jsonText(ended));
  else print(out, SENTENCES[ended.status]);
  return EXIT.winner;
}

const SENTENCES = {
  running: 'Canceled; the poll ends within seconds.',
  completed: 'The poll has ended with the votes received so far, which are charged.',
  failed: 'The poll has ended without a vote.',
} as const;

const batchSentence = ({ status, counts }: Batch): string =>
  status === 'running' || status === 'canceling'
    ? `No further row is started; ${counts.running} running polls end with the votes received so far.`
    : `The batch had already ended: ${plain(status)}.`;
