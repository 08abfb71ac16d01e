import { isJsonObject } from '@eloquentpoll/contracts';
import { parseShorthand } from '@eloquentpoll/contracts/shorthand';
import { ApiError, invalid } from '../../http/api-error.ts';
import { uncleanIn } from '../../http/validation/text-rules.ts';
import { withoutNull } from '../without-null.ts';
import { A2A_ERRORS } from './methods.ts';
import { RpcProtocolError } from './read-call.ts';

/**
 * The poll in a message: the first data part; otherwise the first text part that is a JSON object; otherwise the first
 * text that ends with options in brackets. Options are not guessed from other text. Not yet checked as a poll.
 */
export function pollOfMessage(params: Record<string, unknown>): Record<string, unknown> {
  const { message } = params;
  const parts = isJsonObject(message) && Array.isArray(message.parts) ? message.parts.filter(isJsonObject) : [];
  const texts = parts.map(({ text }) => text).filter((text) => typeof text === 'string');
  const found =
    parts.map(({ data }) => data).find(isJsonObject) ??
    texts.map(objectIn).find(isJsonObject) ??
    texts.map(shorthandIn).find(isJsonObject);
  if (!found) {
    if (parts.length > 0 && parts.every(isFile)) {
      throw new RpcProtocolError(A2A_ERRORS.contentTypeNotSupported, FILES_ONLY);
    }
    throw new ApiError('invalid_task_input', { detail: NOTHING_FOUND });
  }
  const issue = uncleanIn(found);
  if (issue) throw invalid([issue]);
  return withoutNull(found);
}

/** Version 0.3 has `file`, version 1.0 `raw` and `url`. */
const isFile = (part: Record<string, unknown>): boolean => ['file', 'raw', 'url'].some((name) => name in part);

const FILES_ONLY = 'Files are not read: send the poll as a data part, or as JSON in a text part.';

const NOTHING_FOUND =
  'No message part holds a question and options: send JSON such as {"question":"Which is larger?","options":["A","B"]}, or a text such as: Which is larger? [A, B]';

function objectIn(text: string): unknown {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shorthandIn(text: string): unknown {
  const parsed = parseShorthand(text);
  if (!parsed.ok || parsed.value.question === '' || parsed.value.options === null) return undefined;
  const { question, options } = parsed.value;
  return { question, options };
}
