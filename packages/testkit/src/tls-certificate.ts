import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

// A certificate for test servers, made in memory: X.509 in DER, ECDSA on P-256. It is self-signed and therefore its own
// certificate authority.

export interface TestCertificate {
  cert: string;
  key: string;
}

const DAY_MS = 86_400_000;
const ECDSA_SHA256 = '06082a8648ce3d040302';
const COMMON_NAME = '0603550403';
const ALT_NAMES = '0603551d11';
const BASIC_CONSTRAINTS = '0603551d13';

export function testCertificate(names: readonly string[], addresses: readonly string[] = []): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(hex(ECDSA_SHA256));
  const name = sequence(tagged(0x31, sequence(hex(COMMON_NAME), tagged(0x0c, Buffer.from('a test')))));
  const alternatives = sequence(
    ...names.map((each) => tagged(0x82, Buffer.from(each))),
    ...addresses.map((each) => tagged(0x87, Buffer.from(each.split('.').map(Number)))),
  );
  const extensions = sequence(
    sequence(hex(BASIC_CONSTRAINTS), tagged(0x01, hex('ff')), octets(sequence(tagged(0x01, hex('ff'))))),
    sequence(hex(ALT_NAMES), octets(alternatives)),
  );
  const serial = randomBytes(8);
  serial[0] = 1;
  const body = sequence(
    tagged(0xa0, tagged(0x02, hex('02'))),
    tagged(0x02, serial),
    algorithm,
    name,
    sequence(time(Date.now() - DAY_MS), time(Date.now() + DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, extensions),
  );
  const certificate = sequence(
    body,
    algorithm,
    tagged(0x03, Buffer.concat([hex('00'), signatureOf(body, privateKey)])),
  );
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

const signatureOf = (body: Buffer, key: KeyObject): Buffer => sign('sha256', body, key);
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const sequence = (...parts: Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts));
const octets = (content: Buffer): Buffer => tagged(0x04, content);
const time = (ms: number): Buffer =>
  tagged(
    0x17,
    Buffer.from(
      `${new Date(ms)
        .toISOString()
        .replace(/[-:T]|\.\d+/g, '')
        .slice(2)}`,
    ),
  );

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
