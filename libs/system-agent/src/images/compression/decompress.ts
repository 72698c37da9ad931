import { pipeline, Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import { imageFailed } from '../image-failure.js';
import { ByteReader } from './byte-reader.js';
import { unlz4 } from './unlz4.js';

const DECODERS = { gzip: gunzip, zstd: unzstd, lz4: unlz4, bzip2: unbzip2 };
type Compression = keyof typeof DECODERS;
const OLDEST_NODE_FOR_ZSTD = 26;

export const LAYER_COMPRESSIONS: readonly Compression[] = ['gzip', 'zstd'];
export const ARCHIVE_COMPRESSIONS: readonly Compression[] = ['gzip', 'zstd', 'lz4', 'bzip2'];

/**
 * Recognises the compression by the first bytes only. Decodes at most a few MiB ahead of the reader.
 * @throws AgentError `imageFailed` if `allowed` lacks the compression. Errors of the input pass through.
 */
export async function* decompress(
  bytes: AsyncIterable<Uint8Array>,
  allowed: readonly Compression[],
): AsyncGenerator<Buffer> {
  const input = new ByteReader(bytes, 'decompress');
  try {
    const compression = compressionOf(await input.peek(4));
    if (compression === undefined) yield* input.rest();
    else if (allowed.includes(compression)) yield* DECODERS[compression](input);
    else throw imageFailed('read a layer', `${compression} data`, allowed.join(' or '));
  } finally {
    await input.close();
  }
}

function compressionOf(start: Buffer): Compression | undefined {
  if (start.length < 4) return undefined;
  if (start.readUInt16BE() === 0x1f8b) return 'gzip';
  if (start.readUInt32LE() === 0xfd2fb528) return 'zstd';
  if ((start.readUInt32LE() & ~15) === 0x184d2a50) return 'zstd';
  if (start.readUInt32LE() === 0x184d2204) return 'lz4';
  return start.toString('latin1', 0, 3) === 'BZh' ? 'bzip2' : undefined;
}

function gunzip(input: ByteReader): AsyncGenerator<Buffer> {
  return decodedBy(zlib.createGunzip(), input);
}

/** Refuses windows above 128 MiB, as the zstd program does by default. @throws AgentError `imageFailed` before Node 26. */
function unzstd(input: ByteReader): AsyncGenerator<Buffer> {
  // The types of Node 20 lack it.
  const { createZstdDecompress } = zlib as { readonly createZstdDecompress?: () => Transform };
  const { node } = process.versions;
  // Node 22 and 24 lose the frames that follow the first one of a chunk.
  if (createZstdDecompress === undefined || Number.parseInt(node, 10) < OLDEST_NODE_FOR_ZSTD) {
    const wanted = `gzip data, or Node ${OLDEST_NODE_FOR_ZSTD} or later`;
    throw imageFailed('decompress', `zstd data, which Node ${node} cannot read`, wanted);
  }
  return decodedBy(createZstdDecompress(), input);
}

async function* decodedBy(decoder: Transform, input: ByteReader): AsyncGenerator<Buffer> {
  // Ignore errors here: the iteration below throws them.
  pipeline(Readable.from(input.rest()), decoder, () => undefined);
  yield* decoder as AsyncIterable<Buffer>;
}

/** Use only for archives that an administrator provides: a block may expand to 45 MB. */
async function* unbzip2(input: ByteReader): AsyncGenerator<Buffer> {
  const { default: createDecoder } = await import('unbzip2-stream');
  const decoded: Buffer[] = [];
  let failure: Error | undefined;
  const decoder = createDecoder();
  decoder.on('data', (bytes: Buffer) => decoded.push(bytes));
  decoder.on('error', (error: Error) => (failure ??= error));
  const taken = () => {
    if (failure !== undefined) throw failure;
    return decoded.splice(0);
  };
  for await (const chunk of input.rest()) {
    decoder.write(chunk);
    yield* taken();
  }
  decoder.end();
  yield* taken();
}
