import { type PollText, readOptions, readPollText } from './poll-text.ts';
import { print, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

type Asking = NonNullable<Terminal['ask']>;

/** Completes question and options, by asking for missing ones if a person can answer. */
export async function completePoll(
  poll: PollText | null,
  terminal: Terminal,
): Promise<{ question: string; options: string[] }> {
  const { question, options } = poll ?? (await questionFor(null, terminal));
  return { question, options: options ?? (await optionsFor(terminal)) };
}

/** The question of a free poll. The service can supply the options. */
export const questionFor = async (poll: PollText | null, terminal: Terminal): Promise<PollText> =>
  poll ??
  until(terminal, 'Question: ', (line) => readPollText(line, undefined), 'Put the question after ask, in quotes.');

const optionsFor = (terminal: Terminal): Promise<string[]> =>
  until(
    terminal,
    'Options, separated by commas: ',
    readOptions,
    'Put the options after the question: "Which is larger? [The Sun, The Moon]".',
  );

/** Asks until the answer is usable. */
async function until<T>(terminal: Terminal, label: string, read: (line: string) => T, missing: string): Promise<T> {
  const ask: Asking | undefined = terminal.ask;
  if (!ask) throw new UsageError(missing);
  for (;;) {
    const line = await ask(label);
    if (line === null) throw new UsageError(missing);
    if (line.trim() === '') continue;
    try {
      return read(line);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      print(terminal.err, error.message);
    }
  }
}
