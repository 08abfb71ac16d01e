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

/** @param {unknown} error @param {NodeJS.WritableStream} [stream] */
export function report(error, stream = process.stderr) {
  if (!(error instanceof Failure)) {
    stream.write(`\n${error instanceof Error ? error.stack : String(error)}\n`);
    return;
  }
  if (error.output.length > 0) stream.write(`\n${error.output.map((line) => `  │ ${line}`).join('\n')}\n`);
  stream.write(`\n${error.message}\n`);
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
