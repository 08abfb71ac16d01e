import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { FastifyReply } from 'fastify';
import { inOneLine } from '../../http/json-line.ts';

/** Sends the library's web Response through Fastify, so that it gets the headers of every answer. */
export async function sendResponse(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  reply.code(response.status);
  for (const name of FORWARDED_HEADERS) {
    const value = response.headers.get(name);
    if (value !== null) reply.header(name, value);
  }
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    return reply.send((await response.text()) || undefined);
  }
  reply.header('x-accel-buffering', 'no');
  return reply.send(Readable.fromWeb(eventsOf(response) as NodeReadableStream));
}

export const eventsOf = (response: Response) =>
  response.body!.pipeThrough(new TextDecoderStream()).pipeThrough(linesEscaped());

const FORWARDED_HEADERS = ['content-type', 'allow'];

/** The library escapes only what JSON requires. Some readers end a line at U+2028 and the like, which remain. */
const linesEscaped = () =>
  new TransformStream<string, string>({
    transform(text, controller) {
      controller.enqueue(inOneLine(text));
    },
  });
