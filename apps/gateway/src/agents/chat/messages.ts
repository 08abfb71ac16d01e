import { isJsonObject } from '@eloquentpoll/contracts';
import { invalid } from '../../http/api-error.ts';

// A poll has one question: the last message, from the user, preceded by the system messages. Other earlier turns are
// refused: leaving them out would change what the models are asked.

export interface ChatText {
  /** Text of the system messages; empty if there are none. */
  context: string;
  /** Text of the user's message. */
  text: string;
}

export function readMessages(messages: unknown): ChatText {
  if (!Array.isArray(messages) || messages.length === 0) {
    throw wrong('', 'messages must be a list that ends with a message of the user');
  }
  const context: string[] = [];
  for (const [i, message] of messages.slice(0, -1).entries()) {
    const role = roleOf(message, i);
    if (role !== 'system' && role !== 'developer') throw wrong(`/${i}`, `messages[${i}] ${EARLIER}`);
    context.push(textOf(message, i));
  }
  const last = messages.length - 1;
  if (roleOf(messages[last], last) !== 'user') throw wrong(`/${last}`, `messages[${last}] must be of the user`);
  return { context: context.filter((text) => text.trim() !== '').join('\n\n'), text: textOf(messages[last], last) };
}

const EARLIER =
  'is an earlier turn, and a poll has one question: put what the models should know into a system message or into the last message';

function roleOf(message: unknown, i: number): string {
  if (isJsonObject(message) && typeof message.role === 'string') return message.role;
  throw wrong(`/${i}`, `messages[${i}] must have a role and a content`);
}

function textOf(message: unknown, i: number): string {
  const content: unknown = isJsonObject(message) ? message.content : undefined;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content) || content.length === 0) {
    throw wrong(`/${i}/content`, `messages[${i}].content must be text or a list of text parts`);
  }
  return content.map((part, j) => textOfPart(part, i, j)).join('\n');
}

function textOfPart(part: unknown, i: number, j: number): string {
  if (isJsonObject(part) && part.type === 'text' && typeof part.text === 'string') return part.text;
  throw wrong(`/${i}/content/${j}`, `messages[${i}].content[${j}] must be a text part: the models that vote read text`);
}

const wrong = (path: string, detail: string) => invalid([{ pointer: `#/messages${path}`, detail }]);
