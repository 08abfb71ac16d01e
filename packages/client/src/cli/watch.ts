import type { PollResponse } from '../eloquentpoll.ts';
import type { Exit } from './exit-codes.ts';
import { elapsedText, howFar } from './figures.ts';
import type { Invocation } from './invocation.ts';
import { fit } from './plain-text.ts';
import { showOutcome } from './show-outcome.ts';
import { canDraw, canvas, columnsOf, print, styleOf } from './terminal.ts';

/** Follows a poll to its end and shows its result; a result id belongs to a poll that has ended. */
export async function watchCommand(invocation: Invocation, id: string): Promise<Exit> {
  const { polls, terminal } = invocation;
  const outcome = id.startsWith('ps_') ? await follow(invocation, id) : await polls.result(id, terminal);
  return showOutcome(outcome, invocation);
}

async function follow({ polls, terminal, json }: Invocation, id: string): Promise<PollResponse> {
  const { err, signal } = terminal;
  const began = performance.now();
  const ink = styleOf(terminal);
  const { draw } = canvas(terminal.out);
  const drawing = !json && canDraw(terminal);
  let last = '';
  const show = (line: string) => {
    if (drawing) draw([ink.dim(fit(`  ${line} · ${elapsedText(performance.now() - began)}`, columnsOf(terminal)))]);
    else if (!json && line !== last) print(err, line);
    last = line;
  };
  try {
    if (drawing) show('waiting');
    return await polls.session(id).wait({ signal, onProgress: (progress) => show(howFar(progress)) });
  } finally {
    if (drawing) draw([]);
  }
}
