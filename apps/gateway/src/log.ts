import { type DestinationStream, type Logger, pino } from 'pino';
import type { Config } from './config.ts';

// Structured lines on stdout. What may appear is a list, not what may not: a line holds the fields that the code named,
// and an error shrinks to what cannot carry a caller's words. Keys, cookies, signatures, questions and account ids are
// in no field that anyone logs.

export type { Logger } from 'pino';

export function createLog(config: Config, stream?: DestinationStream): Logger {
  return pino(
    {
      level: config.logLevel,
      base: { service: 'gateway', pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError, error: describeError, req: () => undefined, res: () => undefined },
    },
    stream ?? pino.destination({ dest: 1, sync: true }),
  );
}

interface ErrorLine {
  type: string;
  code?: string;
  message?: string;
  at?: string[];
  cause?: ErrorLine;
}

/** Errors whose message quotes what was being read: a body, a statement's values. */
const QUOTING = new Set(['SyntaxError', 'DatabaseError', 'error']);
const MAX_CAUSES = 4;

function describeError(value: unknown, causes = MAX_CAUSES): ErrorLine {
  if (!(value instanceof Error)) return { type: typeof value };
  const code = 'code' in value ? String(value.code) : undefined;
  return {
    type: value.name,
    ...(code !== undefined && { code }),
    ...(!QUOTING.has(value.name) && { message: value.message }),
    at: framesOf(value),
    ...(value.cause !== undefined && causes > 0 && { cause: describeError(value.cause, causes - 1) }),
  };
}

/** The stack without its head, which repeats the message. */
const framesOf = (error: Error): string[] =>
  (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12)
    .map((line) => line.trim());
