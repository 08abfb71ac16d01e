import { type DestinationStream, type Logger, pino } from 'pino';
import type { Metrics } from './metrics.ts';

// Structured lines on stdout. What may be logged is an allow list: the fields that the code names, and of errors only
// the parts that cannot contain a caller's text. Keys, cookies, signatures, questions and account ids are in no logged
// field.

export type { Logger } from 'pino';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const LOUD = { 40: 'warn', 50: 'error', 60: 'fatal' } as const;
/** Each line starts with its level. */
const LOUD_LINE = /^{"level":[456]/;
const isLoud = (level: number): level is keyof typeof LOUD => level in LOUD;

export function openLog(metrics: Metrics, level: LogLevel, stream?: DestinationStream): Logger {
  const lines = Object.values(LOUD).map(
    (name) => [name, metrics.counter('eloquentpoll_log_lines_total', name)] as const,
  );
  const counted = new Map(lines);
  return pino(
    {
      level,
      base: { service: metrics.process, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError, error: describeError, req: () => undefined, res: () => undefined },
      hooks: {
        logMethod(args, method, number) {
          if (isLoud(number)) counted.get(LOUD[number])!.n += 1;
          method.apply(this, args);
        },
      },
    },
    stream ?? standardOutput(),
  );
}

/** In characters. */
const MAX_WAITING = 8_192;
const MAX_WAIT_MS = 50;

let ofProcess: DestinationStream | undefined;

function standardOutput(): DestinationStream {
  ofProcess ??= linesTogether();
  return ofProcess;
}

/** Writes the lines of a short time together. Warnings and errors are written at once. */
function linesTogether(): DestinationStream {
  const out = pino.destination({ dest: 1, sync: true });
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (lines !== '') out.write(lines);
    lines = '';
  };
  process.on('exit', flush);
  return {
    write(line) {
      lines += line;
      if (lines.length >= MAX_WAITING || LOUD_LINE.test(line)) flush();
      else timer ??= setTimeout(flush, MAX_WAIT_MS).unref();
    },
  };
}

interface ErrorLine {
  type: string;
  code?: string;
  message?: string;
  at?: string[];
  cause?: ErrorLine;
}

/** Errors whose message quotes the input, such as a body or a statement's values. */
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

/** The stack without its first line, which repeats the message. */
const framesOf = (error: Error): string[] =>
  (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 12)
    .map((line) => line.trim());
