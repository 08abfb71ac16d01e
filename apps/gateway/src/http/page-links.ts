import type { FastifyRequest } from 'fastify';

// Links to the neighbouring pages of a list, as a Link header (RFC 8288) that keeps the request's filters.

export const LINK_HEADER = {
  link: { type: 'string', description: 'The next and the previous page, `rel="next"` and `rel="prev"`.' },
};

export function pageLinks(
  address: string,
  { raw }: FastifyRequest,
  { after, before }: { after: string | null; before: string | null },
): string {
  const given = new URL(raw.url ?? '', address).searchParams;
  given.delete('after');
  given.delete('before');
  const pages = [
    ['next', 'after', after],
    ['prev', 'before', before],
  ] as const;
  return pages
    .flatMap(([rel, name, id]) =>
      id === null ? [] : `<${address}?${new URLSearchParams([...given, [name, id]])}>; rel="${rel}"`,
    )
    .join(', ');
}
