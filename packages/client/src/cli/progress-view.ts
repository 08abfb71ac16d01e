import type { StreamProgress } from '../eloquentpoll.ts';
import { elapsedText, howFar } from './figures.ts';
import type { Invocation } from './invocation.ts';
import { oddsText } from './odds.ts';
import { picture } from './picture.ts';
import { fit, plain } from './plain-text.ts';
import { canRedraw, canvas, columnsOf, print, styleOf, type Terminal } from './terminal.ts';

// Shows the progress of a poll: as bars on a terminal, else as a line per vote on standard error.

const REDRAW_EVERY_MS = 100;

export interface ShownPoll {
  question: string;
  options: readonly string[];
  threshold: number;
}

export interface ProgressView {
  show(now: StreamProgress): void;
  /** Removes the progress, so that the result can be printed. */
  end(): void;
}

export function progressView(poll: ShownPoll, { terminal, json }: Pick<Invocation, 'terminal' | 'json'>): ProgressView {
  if (json) return SILENT;
  return fitsTerminal(poll, terminal) ? asPicture(poll, terminal) : asLines(terminal);
}

/** Rows needed in addition to the options: the question, the mark, two empty lines and two for the progress. */
const fitsTerminal = ({ options }: ShownPoll, terminal: Terminal): boolean => canRedraw(terminal, options.length + 6);

const SILENT: ProgressView = { show: () => {}, end: () => {} };

function asLines({ err }: Terminal): ProgressView {
  return {
    show({ progress: { received, total }, vote }) {
      if (!vote) return print(err, `asking up to ${total} models`);
      const answer = vote.chosen_option === null ? `failed: ${plain(String(vote.error))}` : plain(vote.chosen_option);
      print(err, `${received}/${total}  ${plain(vote.model_id)}  ${answer}  ${elapsedText(vote.latency_ms)}`);
    },
    end: () => {},
  };
}

function asPicture({ question, options, threshold }: ShownPoll, terminal: Terminal): ProgressView {
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
