import { crc32, deflateRawSync } from 'node:zlib';

// Writes a ZIP archive of a few small files, compressed and without dates, so that equal input gives equal bytes.

const UTF8 = 0x0800;
const DEFLATED = 8;
/** 1 January 1980, the earliest date of the format. */
const NO_DATE = 0x0021;

export function zip(files: Readonly<Record<string, Buffer>>): Buffer {
  const bodies: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [path, bytes] of Object.entries(files)) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(bytes, { level: 9 });
    const entry = entryOf(bytes, packed, name);
    const body = Buffer.concat([words('PK\x03\x04', [20, 2]), entry, name, packed]);
    directory.push(
      Buffer.concat([
        words('PK\x01\x02', [20, 2], [20, 2]),
        entry,
        words('', [0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]),
        name,
      ]),
    );
    bodies.push(body);
    offset += body.length;
  }
  const index = Buffer.concat(directory);
  const end = words(
    'PK\x05\x06',
    [0, 2],
    [0, 2],
    [directory.length, 2],
    [directory.length, 2],
    [index.length, 4],
    [offset, 4],
    [0, 2],
  );
  return Buffer.concat([...bodies, index, end]);
}

/** The fields that a file's header and its directory entry share. */
const entryOf = (bytes: Buffer, packed: Buffer, name: Buffer): Buffer =>
  words(
    '',
    [UTF8, 2],
    [DEFLATED, 2],
    [0, 2],
    [NO_DATE, 2],
    [crc32(bytes), 4],
    [packed.length, 4],
    [bytes.length, 4],
    [name.length, 2],
    [0, 2],
  );

/** A signature, then little-endian numbers with their sizes in bytes. */
function words(signature: string, ...numbers: readonly (readonly [value: number, bytes: 2 | 4])[]): Buffer {
  const parts = numbers.map(([value, bytes]) => {
    const part = Buffer.alloc(bytes);
    part.writeUIntLE(value, 0, bytes);
    return part;
  });
  return Buffer.concat([Buffer.from(signature, 'latin1'), ...parts]);
}
