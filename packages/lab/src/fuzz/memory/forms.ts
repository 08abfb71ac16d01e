import { createHash } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';

// The forms of our pages: names and values of fields, by operation.

/** The PKCE verifier of every command-line login. */
export const VERIFIER = 'v'.repeat(43);
export const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
export const GRANT = { port: '4321', state: 's'.repeat(22), challenge: CHALLENGE, name: 'fuzz' };

type Fields = readonly (readonly [string, string])[];

const KEY_FIELDS: Arbitrary<Fields> = fc
  .record({
    label: fc.constantFrom('worker', '', 'x'.repeat(64)),
    limit: fc.constantFrom('', '5', '$0.01', '0', '1e3', '1000001'),
    reset: fc.constantFrom('never', 'daily', 'monthly', 'x'),
    expires: fc.constantFrom('', '1', '365', 'keep', '-1'),
    read_only: fc.constantFrom('', 'on'),
  })
  .map((fields) => Object.entries(fields));

export const FORMS: Readonly<Record<string, Arbitrary<Fields>>> = {
  sendPlayground: fc.constantFrom(
    [
      ['question', 'Which of these is the best choice?'],
      ['option', 'A'],
      ['option', 'B'],
      ['option', ''],
    ],
    [['question', 'short']],
  ),
  sendResultFeedback: fc.constantFrom([['outcome', 'correct']], [['outcome', 'incorrect']], [['outcome', 'x']]),
  sendPollDeletion: fc.constantFrom(
    [['id', '{{session}}']],
    [
      ['id', '{{session}}'],
      ['id', '{{foreign-session}}'],
    ],
  ),
  sendLowBalance: fc.constantFrom('5', '', '$1', '0', '-1', '1e9', '0.000001').map((amount) => [['amount', amount]]),
  sendNewKey: KEY_FIELDS,
  sendKeyChange: KEY_FIELDS,
  sendKeyRotation: fc.constantFrom('3600', '86400', '0', 'x').map((overlap) => [['overlap', overlap]]),
  sendNewEndpoint: fc.constantFrom(
    [
      ['url', '{{receiver}}'],
      ['description', 'page'],
      ['event_types', 'poll.completed'],
      ['event_types', 'batch.completed'],
    ],
    [['url', 'https://receiver.example/x']],
    [['url', 'ftp://x']],
  ),
  sendGrant: fc.constantFrom('allow', 'allow', 'deny').map((answer) => [...Object.entries(GRANT), ['answer', answer]]),
};

export const encodedForm = (fields: Fields): Buffer =>
  Buffer.from(
    fields
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value.toWellFormed())}`)
      .join('&')
      .replace(/%7B%7B(.*?)%7D%7D/g, '{{$1}}'),
  );

const BOUNDARY = 'fuzz-boundary';
export const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

/** A form with a file; names are quoted, as browsers write them. */
export function multipart(fields: Fields, file: { name: string; text: string } | null): Buffer {
  const quoted = (text: string) => text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const parts = fields.map(
    ([name, value]) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const last =
    file === null
      ? ''
      : `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="${quoted(file.name)}"\r\n` +
        `content-type: application/octet-stream\r\n\r\n${file.text}\r\n`;
  return Buffer.from(`${parts.join('')}${last}--${BOUNDARY}--\r\n`);
}
