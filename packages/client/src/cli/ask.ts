import type { PollRequest, PollResponse, StreamProgress } from '../eloquentpoll.ts';
import type { Exit } from './exit-codes.ts';
import { elapsedText, howFar } from './figures.ts';
import type { Invocation } from './invocation.ts';
import { oddsText } from './odds.ts';
import { picture } from './picture.ts';
import { fit, plain } from './plain-text.ts';
import { showOutcome } from './show-outcome.ts';
import { canRedraw, canvas, columnsOf, linkOf, print, programOf, styleOf, type Terminal } from './terminal.ts';

// Runs a poll and shows its progress: as bars on a terminal, else as a line per vote on standard error.

const REDRAW_EVERY_MS = 100;
const DEFAULT_THRESHOLD = 0.95;

export async function askCommand(invocation: Invocation, request: PollRequest): Promise<Exit> {
  const { polls, terminal, json } = invocation;
  const progress = json ? SILENT : fitsTerminal(request, terminal) ? asPicture(request, terminal) : asLines(terminal);
  let session = '';
  let page: string | undefined;
  try {
    for await (const { event, data } of polls.stream(request, { signal: terminal.signal })) {
      session = data.session_id;
      if (event === 'started') {
        page = data.page_url ?? page;
        progress.show(data);
      } else {
        progress.end();
        return showOutcome(ownResult(data), invocation);
      }
    }
    throw new Error('a stream ends with its result');
  } catch (error) {
    progress.end();
    if (terminal.signal.aborted && session) {
      print(
        terminal.err,
        'The poll goes on, and its votes are charged. To follow it:',
        `  ${programOf(terminal)} watch ${session}`,
        ...(page === undefined ? [] : [`  ${linkOf(terminal, plain(page))}`]),
      );
    }
    throw error;
  } finally {
    progress.end();
  }
}

/** Rows beside the options: the question, the mark, two empty lines and two about the progress. */
const fitsTerminal = ({ options }: PollRequest, terminal: Terminal): boolean => canRedraw(terminal, options.length + 6);

/** The poll response, without what belongs to the stream. */
function ownResult({ session_id: _session, seq: _seq, ...result }: PollResponse & { session_id: string; seq: number }) {
  return result;
}

interface ProgressView {
  show(now: StreamProgress): void;
  /** Removes what would be in the way of the result. */
  end(): void;
}

const SILENT: ProgressView = { show: () => {}, end: () => {} };

function asLines({ err }: Terminal): ProgressView {
  return {
    show({ progress: { received, total }, vote }) {
      if (!vote) return print(err, `asking up to ${total} models`);
      const answer = vote.chosen_option === null ? `failed: ${vote.error}` : plain(vote.chosen_option);
      print(err, `${received}/${total}  ${plain(vote.model_id)}  ${answer}  ${elapsedText(vote.latency_ms)}`);
    },
    end: () => {},
  };
}

function asPicture(request: PollRequest, terminal: Terminal): ProgressView {
  const { question, options, confidence_threshold: threshold = DEFAULT_THRESHOLD } = request;
  const { draw } = canvas(terminal.out);
  const ink = styleOf(terminal);
  const began = performance.now();
  let now: StreamProgress | null = null;
  const redraw = () => {
    const columns = columnsOf(terminal);
    const { tally = {}, leader = null, progress = null } = now ?? {};
    const standings = { options, tally, leader, total: progress?.total ?? 0, failed: progress?.failed ?? 0 };
    const odds = now && oddsText(options, now, threshold);
    const elapsed = elapsedText(performance.now() - began);
    const foot = [
      ...(odds === null ? [] : [odds]),
      progress === null ? `asking · ${elapsed}` : `${howFar(progress)} · ${elapsed}`,
    ];
    draw([
      ink.bold(fit(plain(question), columns)),
      '',
      ...picture(standings, columns, ink),
      '',
      ...foot.map((line) => ink.dim(fit(`  ${line}`, columns))),
    ]);
  };
  const timer = setInterval(redraw, REDRAW_EVERY_MS);
  let ended = false;
  redraw();
  return {
    show(next) {
      now = next;
      redraw();
    },
    end() {
      clearInterval(timer);
      if (!ended) draw([]);
      ended = true;
    },
  };
}
