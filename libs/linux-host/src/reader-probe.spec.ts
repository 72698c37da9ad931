import { closeSync, openSync } from 'node:fs';
import { loadCLibrary } from './c-library.js';
import { readerProbe } from './reader-probe.js';

(process.platform === 'linux' ? describe : describe.skip)('the reader of a pipe', () => {
  it('is seen to leave, although nothing is written', () => {
    const ends: [number, number] = [-1, -1];
    loadCLibrary().pipe2(ends, 0);
    const [reader, writer] = ends;
    const hasLeft = readerProbe(writer);
    expect(hasLeft?.()).toBe(false);
    closeSync(reader);
    expect(hasLeft?.()).toBe(true);
    closeSync(writer);
  });

  it('is unknown for a file', () => {
    const file = openSync('/dev/null', 'r');
    expect(readerProbe(file)).toBeUndefined();
    closeSync(file);
  });
});
