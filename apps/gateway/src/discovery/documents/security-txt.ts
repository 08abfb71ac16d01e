import type { Config } from '../../config/config.ts';

/** RFC 9116. It expires within a year, on the first of a month, so that all gateways serve the same text. */
export function securityTxt({ baseUrl, contactEmail }: Config, now = new Date()): string {
  const expires = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + MONTHS, 1)).toISOString();
  return `Contact: mailto:${contactEmail}
Expires: ${expires.replace('.000Z', 'Z')}
Preferred-Languages: en
Canonical: ${baseUrl}/.well-known/security.txt
`;
}

const MONTHS = 11;
