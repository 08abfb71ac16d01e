import { createInterface } from 'node:readline/promises';

interface Asking {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/**
 * Null at the end of the input, and when the command is to end. While a line is being edited, Ctrl-C goes to the editor,
 * not to the process.
 */
export async function askPerson(label: string, enough: AbortController, streams: Asking): Promise<string | null> {
  const lines = createInterface(streams);
  const ended = new AbortController();
  const end = () => ended.abort();
  lines.once('SIGINT', () => enough.abort());
  lines.once('close', end);
  // A signal such as SIGTERM does not end the input.
  enough.signal.addEventListener('abort', end, { once: true });
  if (enough.signal.aborted) end();
  try {
    return await lines.question(label, { signal: ended.signal });
  } catch (error) {
    if (ended.signal.aborted) return null;
    throw error;
  } finally {
    enough.signal.removeEventListener('abort', end);
    lines.close();
  }
}
