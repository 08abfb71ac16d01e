// JSON on one line. Inside its strings JSON allows characters at which some readers end a line: Python's splitlines and
// JavaScript's `$` end one at U+2028. Escaped, they mean the same and end nothing.

const ENDS_A_LINE = /[\u0085\u2028\u2029]/g;

/** The same JSON without a character that any reader takes for the end of a line. */
export const inOneLine = (json: string): string =>
  json.replace(ENDS_A_LINE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

export const jsonLine = (value: object): string => inOneLine(JSON.stringify(value));
