import type { OnBlock } from '@wins/trusted-files';
import { createHash } from 'node:crypto';
import type { Hash } from './algorithms.js';

/** Digests of a program as Authenticode computes them: without the checksum and the certificate table. */
export type ProgramDigests = Readonly<Record<Hash, Buffer>>;

export type SignedContent =
  | {
      readonly digests: ProgramDigests;
      /** The PKCS #7 message, with at most seven bytes of padding. */
      readonly message: Buffer;
    }
  /** Why there is no signature to verify. */
  | string;

/** Maximum size of the certificate table. The page hashes of a 100 MB program need 840 KB. */
const MAX_TABLE_BYTES = 4 * 1024 ** 2;
const CERTIFICATE_HEADER_BYTES = 8;
const REVISION_2 = 0x0200;
const PKCS_SIGNED_DATA = 2;
const PE32 = { magic: 0x10b, directories: 96 };
const PE32_PLUS = { magic: 0x20b, directories: 112 };
const CHECKSUM_AT = 64;
/** The fifth data directory is the certificate table; unlike the others, its address is an offset in the file. */
const CERTIFICATE_DIRECTORY = 4;
const DIRECTORY_BYTES = 8;

interface Layout {
  readonly checksum: number;
  readonly directory: number;
  readonly table: number;
  readonly tableBytes: number;
}

/**
 * Authenticode's digest covers all bytes before the certificate table, except the checksum and the table's directory
 * entry. Nothing may follow the table.
 */
export class ContentReader {
  // The table at the end of the file names the hash function.
  readonly #hashes = {
    sha256: createHash('sha256'),
    sha384: createHash('sha384'),
    sha512: createHash('sha512'),
  };
  readonly #table: Buffer[] = [];
  #layout: Layout | string = 'it is not a PE file';
  #bytes = 0;

  /** The first block must contain the headers. */
  readonly take: OnBlock = (block, position) => {
    if (position === 0) this.#layout = layoutOf(block);
    this.#bytes = position + block.length;
    const layout = this.#layout;
    if (typeof layout === 'string') return;
    const { checksum, directory, table, tableBytes } = layout;
    const within = (from: number, to: number): Buffer =>
      block.subarray(Math.max(0, from - position), Math.max(0, to - position));
    for (const hash of Object.values(this.#hashes)) {
      hash.update(within(0, checksum));
      hash.update(within(checksum + 4, directory));
      hash.update(within(directory + DIRECTORY_BYTES, table));
    }
    const part = within(table, table + tableBytes);
    if (part.length > 0) this.#table.push(Buffer.from(part));
  };

  end(): SignedContent {
    const layout = this.#layout;
    if (typeof layout === 'string') return layout;
    const { table, tableBytes } = layout;
    if (table + tableBytes !== this.#bytes)
      return `found a certificate table from byte ${table} to ${table + tableBytes} in a file of ${this.#bytes}; wanted one that ends with the file`;
    const certificates = Buffer.concat(this.#table);
    const length = certificates.readUInt32LE(0);
    const isAlone = length > CERTIFICATE_HEADER_BYTES && Math.ceil(length / 8) * 8 === tableBytes;
    if (!isAlone) return 'its certificate table does not have exactly one entry';
    const revision = certificates.readUInt16LE(4);
    const type = certificates.readUInt16LE(6);
    if (revision !== REVISION_2 || type !== PKCS_SIGNED_DATA)
      return `found a certificate of revision ${revision} and type ${type}; wanted ${REVISION_2} and ${PKCS_SIGNED_DATA}`;
    const { sha256, sha384, sha512 } = this.#hashes;
    return {
      digests: { sha256: sha256.digest(), sha384: sha384.digest(), sha512: sha512.digest() },
      message: certificates.subarray(CERTIFICATE_HEADER_BYTES),
    };
  }
}

function layoutOf(first: Buffer): Layout | string {
  const pe = first.length < 0x40 || !isAt(first, 0, 'MZ') ? undefined : first.readUInt32LE(0x3c);
  // The optional header begins 24 bytes after the start of `PE\0\0`.
  if (pe === undefined || pe + 26 > first.length || !isAt(first, pe, 'PE\0\0'))
    return 'it is not a PE file; only Windows programs are signed';
  const optional = pe + 24;
  const magic = first.readUInt16LE(optional);
  const form = [PE32, PE32_PLUS].find((known) => known.magic === magic);
  if (form === undefined) return `found the PE format ${magic}; wanted PE32 or PE32+`;
  const directory = optional + form.directories + CERTIFICATE_DIRECTORY * DIRECTORY_BYTES;
  const end = directory + DIRECTORY_BYTES;
  const optionalEnd = optional + first.readUInt16LE(pe + 20);
  if (end > first.length || end > optionalEnd) return 'its headers have no entry for a signature';
  if (first.readUInt32LE(optional + form.directories - 4) <= CERTIFICATE_DIRECTORY)
    return 'its headers have no entry for a signature';
  const table = first.readUInt32LE(directory);
  const tableBytes = first.readUInt32LE(directory + 4);
  if (table === 0 && tableBytes === 0)
    return 'it has no signature of its own (a signature in a catalog does not count)';
  if (table < end || table % 8 !== 0 || tableBytes <= CERTIFICATE_HEADER_BYTES)
    return `found a certificate table of ${tableBytes} bytes at ${table}; wanted one behind the headers`;
  if (tableBytes > MAX_TABLE_BYTES)
    return `found a certificate table of ${tableBytes} bytes; wanted at most ${MAX_TABLE_BYTES}`;
  return { checksum: optional + CHECKSUM_AT, directory, table, tableBytes };
}

function isAt(bytes: Buffer, at: number, text: string): boolean {
  return bytes.toString('latin1', at, at + text.length) === text;
}
