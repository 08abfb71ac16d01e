import { askService } from './ask-service.ts';
import { type HostMessage, metaOf, objectOr } from './host-message.ts';

// Stops the poll of a canceled call, of which only the key is known. The same call as a task returns the poll's id at
// once.

const TIMEOUT_MS = 10_000;
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const TASKS = 'io.modelcontextprotocol/tasks';

/** True if the poll ends now or has ended. `headers` are those of the call, with its key. */
export async function stopPoll(address: URL, message: HostMessage, headers: Record<string, string>): Promise<boolean> {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const asTask = asTaskCall(message);
  const sent = { message: asTask, body: JSON.stringify(asTask), headers, signal, leftMs: TIMEOUT_MS };
  const { answer } = await askService(address, sent, () => {});
  const id = answer?.result?.taskId;
  if (typeof id !== 'string') return false;
  const path = new URL(`polls/${encodeURIComponent(id)}/cancel`, address);
  const { authorization = '' } = headers;
  const init = { method: 'POST', headers: { authorization }, signal, redirect: 'manual' } as const;
  try {
    const { ok, body } = await fetch(path, init);
    await body?.cancel();
    return ok;
  } catch {
    return false;
  }
}

function asTaskCall(message: HostMessage): HostMessage {
  const meta = metaOf(message);
  const capabilities = objectOr(meta[CAPABILITIES]);
  const extensions = { ...objectOr(capabilities.extensions), [TASKS]: {} };
  const _meta = { ...meta, [CAPABILITIES]: { ...capabilities, extensions } };
  return { ...message, id: 'stop', params: { ...message.params, _meta } };
}
