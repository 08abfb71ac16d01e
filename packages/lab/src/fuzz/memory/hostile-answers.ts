import type { FuzzAnswer } from '../send-request.ts';

// Texts that would be interpreted if one place forgot to escape them, and how that would show in an answer. `xq7`
// occurs nowhere else.

export const HOSTILE_TEXTS: readonly string[] = [
  '<xq7>',
  '<img src=xq7 onerror=xq7()>',
  '</script><xq7>',
  '</textarea><xq7>',
  '</title><xq7>',
  '--><xq7><!--',
  ']]><xq7>',
  '" onxq7="1',
  "' onxq7='1",
  '"><xq7 a="',
  '[xq7](javascript:xq7)',
  '![xq7](https://xq7.example/x.png)',
  'javascript:xq7()',
  '=xq7(1)',
  '+xq7(1)',
  '-xq7(1)',
  '@xq7(1)',
  '"=xq7(1)"',
  'a,"b",xq7',
  'xq7\r\nx-xq7: 1',
  'xq7\nevent: xq7\ndata: {}\n\n',
  '"]\n  click m0 xq7 "x"\n  m["',
  'xq7"; filename="xq7.exe',
  '../../xq7',
  'xq7\0xq7',
  '\u202exq7\u2066',
  '\u2028xq7\u2029',
  '\ud800xq7',
  '{{7*7}}xq7',
  '$' + '{7*7}xq7',
  '__proto__',
  'constructor',
  "xq7' or 1=1 --",
  '%0d%0ax-xq7:%201',
  '😀'.repeat(40),
  'é'.repeat(64),
  'W'.repeat(190),
];

/** A caller's text that was not escaped; null if all were. */
export function escapedText({ headers, text }: FuzzAnswer): string | null {
  const injected = Object.keys(headers).find((name) => name.includes('xq7'));
  if (injected !== undefined) return `a text became the header ${injected}`;
  if (!text.includes('xq7')) return null;
  const [type = ''] = String(headers['content-type'] ?? '').split(';');
  const found = SIGNS[type]?.exec(text);
  return found
    ? `a text is more than a text as ${type}: ${text.slice(Math.max(0, found.index - 30), found.index + 50)}`
    : null;
}

const SIGNS: Readonly<Record<string, RegExp>> = {
  'text/html':
    /<xq7|<img src=xq7|<[a-z][^\s<>"']*(?:\s+[\w:-]+(?:=(?:"[^"]*"|'[^']*'|[^\s"'<>]+))?)*\s+onxq7=|(?:href|src|action)="?javascript:xq7/i,
  'text/markdown': /(?<!\\)<xq7|(?<!\\)\]\(javascript:xq7|(?<!\\)!\[xq7\]\(/i,
  'text/csv': /(?:^|,|\n)"?[=+@-]xq7/,
  'text/event-stream': /^event: ?xq7/m,
  'text/plain': /^\s*click \S+ xq7/m,
};
