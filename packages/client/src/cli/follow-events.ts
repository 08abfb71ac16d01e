import type { PollResponse, StreamEvent } from '../eloquentpoll.ts';
import type { Exit } from './exit-codes.ts';
import type { Invocation } from './invocation.ts';
import { plain } from './plain-text.ts';
import { type ProgressView, progressView } from './progress-view.ts';
import { showOutcome } from './show-outcome.ts';
import { linkOf, print, programOf, type Terminal } from './terminal.ts';

/** Shows a poll from its events until its result. If no view is given, one is made from the first event. */
export async function followEvents(
  events: AsyncIterable<StreamEvent>,
  invocation: Invocation,
  view?: ProgressView,
): Promise<Exit> {
  const { terminal, json, heard } = invocation;
  let session = '';
  let page: string | undefined;
  try {
    for await (const { event, data } of events) {
      heard.sessionId = data.session_id;
      session = data.session_id;
      if (event === 'started') {
        page = data.page_url ?? page;
        const { question = '', options = Object.keys(data.tally), confidence_threshold: threshold = 1 } = data;
        view ??= progressView({ question, options, threshold }, invocation);
        view.show(data);
      } else {
        view?.end();
        return showOutcome(ownResult(data), invocation);
      }
    }
    throw new Error('a stream ends with its result');
  } catch (error) {
    view?.end();
    if (terminal.signal.aborted && session && !json) printGoesOn(terminal, session, page);
    throw error;
  } finally {
    view?.end();
  }
}

/** For a person who has stopped waiting. */
export function printGoesOn(terminal: Terminal, session: string, page?: string): void {
  const program = programOf(terminal);
  print(
    terminal.err,
    'The poll continues, and its votes are charged. To follow it:',
    `  ${program} watch ${plain(session)}`,
    ...(page === undefined ? [] : [`  ${linkOf(terminal, plain(page))}`]),
    `To stop it: ${program} cancel ${plain(session)}`,
  );
}

/** The poll response without the stream's own fields. */
function ownResult({ session_id: _session, seq: _seq, ...result }: PollResponse & { session_id: string; seq: number }) {
  return result;
}
