import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { tarOf } from '../../testing/image-harness.js';
import { readTar } from './read-tar.js';

/** Files in the tar, each of them a chunk of the input. */
const FILES = 10_000;
const CHUNK_BYTES = 16 * 1024;

it('takes no memory for what it has read of a tar, however long the tar is', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const usedBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const tar = await tarOf([{ name: 'file', content: Buffer.alloc(CHUNK_BYTES - 512) }]);
  let [before, after] = [0, 0];
  async function* bytes() {
    for (let file = 0; file < FILES; file += 1) {
      if (file === FILES / 10) before = usedBytes();
      yield await Promise.resolve(tar.subarray(0, CHUNK_BYTES));
    }
    after = usedBytes();
    yield tar.subarray(CHUNK_BYTES);
  }
  let files = 0;
  for await (const _entry of readTar(bytes())) files += 1;
  expect(files).toBe(FILES);
  expect((after - before) / FILES).toBeLessThan(100);
});
