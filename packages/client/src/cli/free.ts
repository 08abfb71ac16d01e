import { type EloquentPoll, EloquentPollError, type QuickResult, type ResultDetail } from '../eloquentpoll.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import { plain } from './plain-text.ts';
import { showOutcome } from './show-outcome.ts';
import { print, type Terminal } from './terminal.ts';

/** Runs a free poll. Its answer is short, so the details are read from the public result. */
export async function freeCommand(
  polls: EloquentPoll,
  request: { question: string; options?: string[] },
  terminal: Terminal,
  json: boolean,
): Promise<Exit> {
  const answer = await polls.free(request, { signal: terminal.signal });
  const exit = answer.answer === null ? EXIT.undecided : EXIT.winner;
  if (json) {
    print(terminal.out, JSON.stringify(answer));
    return exit;
  }
  const detail = await publicResult(polls, answer, terminal.signal);
  if (detail) return showOutcome(detail, terminal, json);
  print(terminal.out, answer.answer === null ? 'No winner.' : `${plain(answer.answer)} wins.`, plain(answer.reasoning));
  return exit;
}

/** null if it cannot be read: the answer is shown without it. */
async function publicResult(
  polls: EloquentPoll,
  { poll_id }: QuickResult,
  signal: AbortSignal,
): Promise<ResultDetail | null> {
  if (poll_id === undefined) return null;
  return polls.result(poll_id, { signal }).catch((error: unknown) => {
    if (error instanceof EloquentPollError) return null;
    throw error;
  });
}
