/** The command cannot be run as it was written; the message says what to write instead. */
export class UsageError extends Error {}
