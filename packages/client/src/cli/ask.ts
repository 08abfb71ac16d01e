import type { EloquentPoll, PollRequest, PollResponse, StreamProgress } from '../eloquentpoll.ts';
import { type Exit, exitOfOutcome } from './exit-codes.ts';
import { COLOUR, elapsedText, howFar, NO_COLOUR, picture, type Scene } from './picture.ts';
import { plain } from './plain-text.ts';
import { showOutcome } from './show-outcome.ts';
import { details, outcomeSentence } from './summary.ts';
import { canRedraw, canvas, print, type Terminal } from './terminal.ts';

// Runs a poll and shows its progress: as bars on a terminal, else as a line per vote on standard error.

const REDRAW_EVERY_MS = 100;

export async function askCommand(
  polls: EloquentPoll,
  request: PollRequest,
  terminal: Terminal,
  json: boolean,
): Promise<Exit> {
  const watch = json ? silently : fitsTerminal(request, terminal) ? asPicture(request, terminal) : asLines(terminal);
  let session = '';
  try {
    for await (const { event, data } of polls.stream(request, { signal: terminal.signal })) {
      session = data.session_id;
      if (event === 'started') watch.progress(data);
      else return watch.end(data) ?? showOutcome(ownResult(data), terminal, json);
    }
    throw new Error('a stream ends with its result');
  } catch (error) {
    watch.stop();
    if (terminal.signal.aborted && session) {
      print(terminal.err, `The poll goes on. Its result: eloquentpoll result ${session}`);
    }
    throw error;
  } finally {
    watch.stop();
  }
}

/** Rows beside the options: the question, two empty lines, up to four lines about the end. */
const fitsTerminal = ({ options }: PollRequest, terminal: Terminal): boolean => canRedraw(terminal, options.length + 7);

/** The poll response, without what belongs to the stream. */
function ownResult({ session_id: _session, seq: _seq, ...result }: PollResponse & { session_id: string; seq: number }) {
  return result;
}

interface Watch {
  progress(now: StreamProgress): void;
  /** Draws the result over the progress; null leaves that to the caller. */
  end(result: PollResponse): Exit | null;
  stop(): void;
}

const silently: Watch = { progress: () => {}, end: () => null, stop: () => {} };

function asLines({ err }: Terminal): Watch {
  return {
    progress({ progress: { received, total }, vote }) {
      if (!vote) return print(err, `asking ${total} models`);
      const said = vote.chosen_option === null ? `failed: ${vote.error}` : plain(vote.chosen_option);
      print(err, `${received}/${total}  ${plain(vote.model_id)}  ${said}  ${elapsedText(vote.latency_ms)}`);
    },
    end: () => null,
    stop: () => {},
  };
}

function asPicture({ question, options }: PollRequest, terminal: Terminal): Watch {
  const { draw } = canvas(terminal.out);
  const ink = terminal.env.NO_COLOR ? NO_COLOUR : COLOUR;
  const began = performance.now();
  let now: StreamProgress | null = null;
  const show = (scene: Omit<Scene, 'question' | 'options'>) =>
    draw(picture({ question, options, ...scene }, terminal.out.columns || 80, ink));
  const redraw = () => {
    const elapsed = performance.now() - began;
    const foot = [now ? howFar(now.progress, elapsed) : `asking · ${elapsedText(elapsed)}`];
    show({ tally: now?.tally ?? {}, total: now?.models_requested ?? 0, leader: now?.leader ?? null, foot });
  };
  const timer = setInterval(redraw, REDRAW_EVERY_MS);
  redraw();
  return {
    progress(next) {
      now = next;
      redraw();
    },
    end(result) {
      clearInterval(timer);
      const total = result.votes.length + result.models_skipped;
      show({
        tally: result.tally,
        total,
        leader: result.winning_option,
        foot: [outcomeSentence(result), ...details(result)],
      });
      return exitOfOutcome(result);
    },
    stop: () => clearInterval(timer),
  };
}
