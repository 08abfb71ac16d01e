import { type Channel, type ChatRequest, textOf } from './chat.ts';

// Reads the ballot from the messages: question, options and their labels, in the order in which they are printed.
// Labels may have any form.

export interface PrintedOption {
  label: string;
  text: string;
}

export interface Paper {
  question: string;
  options: PrintedOption[];
}

/** The ballot, or null if the messages contain none. If several do, the last one counts. */
export function readPaper(request: ChatRequest, channel: Channel): Paper | null {
  for (const message of request.messages.toReversed()) {
    const paper = message.role === 'user' ? parse(textOf(message)) : null;
    if (paper !== null) return paper;
  }
  return fromEnum(request, channel);
}

function parse(text: string): Paper | null {
  const opening = /<<<BALLOT[ \t]+(\S+)[ \t]*\r?\n/.exec(text);
  if (opening === null) return null;
  const start = opening.index + opening[0].length;
  const end = text.indexOf(`BALLOT ${opening[1]}>>>`, start);
  const body = text.slice(start, end < 0 ? undefined : end);
  // Options are JSON strings on one line, so only the question can contain a forged heading: the last one is real.
  const heading = body.lastIndexOf('\nOPTIONS:');
  if (heading < 0) return null;
  const question = body.slice(0, heading).replace(/^\s*QUESTION:\r?\n?/, '');
  const options = body
    .slice(heading)
    .split('\n')
    .map(readOption)
    .filter((option) => option !== null);
  return options.length > 0 ? { question: question.trim(), options } : null;
}

function readOption(line: string): PrintedOption | null {
  const match = /^\s*\[([^\]\s]+)\]\s+(.*\S)\s*$/.exec(line);
  if (match === null) return null;
  return { label: match[1]!, text: unquote(match[2]!) };
}

function unquote(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? value : text;
  } catch {
    return text;
  }
}

/** A question without a ballot, whose options are the values that the schema allows. */
function fromEnum(request: ChatRequest, channel: Channel): Paper | null {
  if (channel.kind === 'text') return null;
  const allowed = channel.schema.properties.find(([, , values]) => values.length > 1)?.[2];
  if (allowed === undefined) return null;
  const question = request.messages.filter((message) => message.role === 'user').map(textOf);
  return { question: question.join('\n'), options: allowed.map((value) => ({ label: value, text: value })) };
}
