/** Characters that terminals obey or hide, and those that some readers take for the end of a line. */
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** JSON on one line, for terminals and files. These characters are escaped, which changes nothing for a parser. */
export const jsonText = (value: object): string =>
  JSON.stringify(value).replace(UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
