/**
 * Whether an Accept header asks for markdown (RFC 9110, 12.5.1): it names markdown with at least the weight of HTML. A
 * wildcard alone means HTML, which browsers and curl expect.
 */
export function prefersMarkdown(accept: string | undefined): boolean {
  const qualities = new Map((accept ?? '').split(',').map(readRange));
  const markdown = qualities.get('text/markdown') ?? 0;
  const html = qualities.get('text/html') ?? qualities.get('text/*') ?? qualities.get('*/*') ?? 0;
  return markdown > 0 && markdown >= html;
}

function readRange(range: string): [type: string, quality: number] {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  const [, quality] = parameters.map((parameter) => /^q=([01](?:\.\d{0,3})?)$/.exec(parameter)).find(Boolean) ?? [];
  return [type, quality === undefined ? 1 : Number(quality)];
}
