// JSON on one line. JSON strings may contain characters that some readers take for line ends: Python's splitlines and
// JavaScript's `$` break at U+2028. Escaped, these characters mean the same and end no line.

const ENDS_A_LINE = /[\u0085\u2028\u2029]/g;

/** The same JSON without any character that a reader could take for a line end. */
export const inOneLine = (json: string): string =>
  json.replace(ENDS_A_LINE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

export const jsonLine = (value: object): string => inOneLine(JSON.stringify(value));
