import { EloquentPollError, type PollOptions, type QuickResult, type ResultDetail } from '../eloquentpoll.ts';
import { type Exit, exitOfOutcome } from './exit-codes.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { plain } from './plain-text.ts';
import { showOutcome } from './show-outcome.ts';
import { winnerText } from './summary.ts';
import { print } from './terminal.ts';

/** Runs a free poll. Its answer is short, so the details are read from the public result. */
export async function freeCommand(
  invocation: Invocation,
  request: { question: string; options?: string[] },
  options: Pick<PollOptions, 'idempotencyKey'>,
): Promise<Exit> {
  const { polls, terminal, json } = invocation;
  const answer = await polls.free(request, { ...options, signal: terminal.signal });
  const exit = exitOfOutcome({ status: answer.status ?? 'success', winning_option: answer.answer });
  if (json) {
    print(terminal.out, jsonText(answer));
    return exit;
  }
  const detail = await publicResult(invocation, answer);
  if (detail) return showOutcome(detail, invocation);
  const headline = answer.answer === null ? 'No winner' : winnerText(answer.answer, answer.status);
  print(terminal.out, `${headline}.`, plain(answer.reasoning));
  return exit;
}

/** Null if it cannot be read. The answer is then shown without it. */
async function publicResult({ polls, terminal }: Invocation, { poll_id }: QuickResult): Promise<ResultDetail | null> {
  if (poll_id === undefined) return null;
  return polls.result(poll_id, { signal: terminal.signal }).catch((error: unknown) => {
    if (error instanceof EloquentPollError) return null;
    throw error;
  });
}
