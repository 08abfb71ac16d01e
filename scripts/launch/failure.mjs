// @ts-check
// A failure that the user can fix: one sentence with the problem and the remedy. Any other error is a bug of ours and
// is shown with its stack.

export class Failure extends Error {
  /** @param {string} sentence @param {string[]} [output] the last lines of the tool that failed */
  constructor(sentence, output = []) {
    super(sentence);
    this.name = 'Failure';
    this.output = output;
  }
}

/**
 * With its causes, and with what failed while the command cleaned up after it.
 * @param {unknown} error @param {NodeJS.WritableStream} [stream]
 */
export function report(error, stream = process.stderr) {
  for (const { when, what } of partsOf(error)) {
    if (what instanceof Failure && what.output.length > 0)
      stream.write(`\n${what.output.map((line) => `  │ ${line}`).join('\n')}\n`);
    const text = what instanceof Failure ? what.message : what instanceof Error ? what.stack : String(what);
    stream.write(`\n${when}${text}\n`);
  }
}

/**
 * @param {unknown} error @param {string} [when] @param {Set<unknown>} [seen]
 * @returns {Generator<{ when: string, what: unknown }>}
 */
function* partsOf(error, when = '', seen = new Set()) {
  if (seen.has(error)) return;
  seen.add(error);
  // Its own stack says nothing: `suppressed` was thrown first, then `error` while resources were disposed of.
  if (error instanceof Error && error.name === 'SuppressedError' && 'suppressed' in error && 'error' in error) {
    yield* partsOf(error.suppressed, when, seen);
    yield* partsOf(error.error, 'Then, while cleaning up: ', seen);
    return;
  }
  yield { when, what: error };
  if (error instanceof AggregateError) for (const one of error.errors) yield* partsOf(one, 'One of them: ', seen);
  if (error instanceof Error && error.cause !== undefined) yield* partsOf(error.cause, 'Cause: ', seen);
}

/**
 * Turns an operating system's refusal into a sentence; null if the error is not about the folder.
 * @param {unknown} error @param {string} folder @returns {Failure | null}
 */
export function folderFailure(error, folder) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'EROFS':
      return new Failure(
        `${folder} is on a read-only disk: EloquentPoll keeps its tools and data there, so make it writable.`,
      );
    case 'EACCES':
    case 'EPERM':
      return new Failure(
        `${folder} cannot be written by this user: change its owner, or start as the user it belongs to.`,
      );
    case 'ENOSPC':
    case 'EDQUOT':
      return new Failure(`The disk of ${folder} is full: free some space and run it again.`);
    case 'ENOTDIR':
    case 'EEXIST':
      return new Failure(`${folder} must be a folder, but a file is in its place: move it away and run it again.`);
    default:
      return null;
  }
}
