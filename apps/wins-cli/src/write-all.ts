/** Writes bytes and waits while the reader is slow; resolves with false when the reader has closed the stream. */
export async function writeAll(stream: NodeJS.WriteStream, bytes: Buffer): Promise<boolean> {
  if (stream.destroyed || stream.errored) return false;
  if (stream.write(bytes)) return true;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
  return !stream.destroyed;
}
