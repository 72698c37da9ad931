import type { ByteReader } from './byte-reader.js';

/**
 * Decompresses bzip2. One block may become 45 MB, and several times that while it is decoded: only for archives that an administrator
 * put there.
 */
export async function* unbzip2(input: ByteReader): AsyncGenerator<Buffer> {
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
