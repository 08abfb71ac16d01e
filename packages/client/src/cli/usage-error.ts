interface Facts {
  code?: string;
  batchId?: string;
}

/** The command line is invalid, or a file that it names cannot be used; the message says what to write instead. */
export class UsageError extends Error {
  readonly code: string;
  /** The id of an accepted batch, which continues despite this error. */
  readonly batchId: string | undefined;

  constructor(message: string, { code = 'usage', batchId }: Facts = {}) {
    super(message);
    this.code = code;
    this.batchId = batchId;
  }
}

/** A system error about a file, as a sentence. Null for other errors. */
export function fileErrorOf(error: unknown, file?: string): UsageError | null {
  if (!(error instanceof Error) || !('errno' in error && 'syscall' in error)) return null;
  const { message, path } = error as NodeJS.ErrnoException;
  const named = file ?? path;
  if (named === undefined) return null;
  // "EACCES: permission denied, open '/x'"
  const why = /^[A-Z\d_]+: (.+?)(?:, \w+.*)?$/s.exec(message)?.[1] ?? message;
  return new UsageError(`${named} cannot be used: ${why}.`, { code: 'file_error' });
}
