import { once } from 'node:events';

/** An entry of a tar archive; iterating over it reads its content. */
export interface TarEntry extends AsyncIterable<Uint8Array> {
  readonly header: {
    readonly name: string;
    readonly type: string | null;
    readonly linkname: string | null;
    readonly mode: number;
    readonly pax?: unknown;
  };
}

/** Accepts Unix V7 tars, which have no magic number. The types of tar-stream lack this option. */
const WITH_OLD_FORMATS: object = { allowUnknownFormat: true };

/**
 * Skips unread bytes of an entry. Reads the whole input, even after the end of the tar, so that the caller can count and
 * hash it.
 * @throws errors of the input; an Error of tar-stream for an invalid or truncated tar, or a name above 4 MiB. Reading an
 * entry throws the same errors.
 */
export async function* readTar(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const { extract: createExtract } = await import('tar-stream');
  const extract = createExtract(WITH_OLD_FORMATS);
  const closed = new Promise<void>((resolve) => extract.on('close', resolve));
  // A tar that is closed takes no more. A race with `closed` would keep a reaction for each chunk.
  extract.on('close', () => extract.emit('drain'));
  // tar-stream does not report the first failure to the reader of an entry.
  let failure: unknown;
  extract.on('error', (error) => (failure ??= error));
  const feed = async () => {
    for await (const chunk of bytes) {
      if (extract.destroyed) return;
      if (!extract.write(chunk)) await once(extract, 'drain');
    }
    extract.end(undefined);
  };
  const feeding = feed().catch((error: unknown) => {
    failure ??= error;
    extract.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  async function* bytesOf(entry: AsyncIterable<unknown>) {
    try {
      yield* entry as AsyncIterable<Uint8Array>;
    } catch (error) {
      await closed;
      throw failure ?? error;
    }
  }
  try {
    for await (const entry of extract) {
      const { header } = entry;
      yield { header, [Symbol.asyncIterator]: () => bytesOf(entry) };
      entry.resume();
    }
    await feeding;
  } catch (error) {
    throw failure ?? error;
  } finally {
    extract.destroy();
  }
}
