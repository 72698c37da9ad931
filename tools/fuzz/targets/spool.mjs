import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const MIB = 1024 * 1024;
/** Enough chunks for several files. */
const CHUNKS = 20;
const CHUNK_BYTES = 30_000;

/**
 * Checks that a damaged spool can be read to its end, in order and without repetition. The reader must return each byte or report it as missing.
 */
export async function openSpool({ Spool, SpoolWriter }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-fuzz-spool-'));
  const writer = new SpoolWriter({ folder, maxBytes: MIB });
  for (let count = 0; count < CHUNKS; count += 1)
    writer.append(count % 3 === 0 ? 'stderr' : 'stdout', Buffer.alloc(CHUNK_BYTES, `${count}\n`));
  await writer.close();
  const total = writer.offset;
  const names = readdirSync(folder).sort();
  const original = names.map((name) => readFileSync(path.join(folder, name)));
  return {
    name: 'spool',
    generate: (rng) => ({
      offset: rng.below(total + 10),
      lines: rng.below(50),
      steps: rng.list(6, () => [
        rng.below(names.length),
        ...rng.choose(
          [6, () => ['set', rng.below(MIB), rng.below(256)]],
          [4, () => ['set', rng.below(40), rng.below(256)]],
          [2, () => ['cut', rng.below(MIB)]],
          [2, () => ['insert', rng.below(MIB), rng.hex(rng.below(50))]],
          [1, () => ['double', rng.below(names.length)]],
          [1, () => ['drop']],
        ),
      ]),
    }),
    async run({ offset, lines, steps }) {
      for (const name of readdirSync(folder)) rmSync(path.join(folder, name));
      for (const [index, octets] of change(original, steps).entries())
        if (octets !== undefined) writeFileSync(path.join(folder, names[index]), octets);
      let at = offset;
      const spool = new Spool(folder, { end: () => total });
      for await (const part of spool.read({ offset })) {
        if (part.offset !== at) throw new Error(`at ${part.offset}, after ${at}`);
        at += part.stream === 'skipped' ? part.bytes : part.bytes.length;
      }
      if (at < total) throw new Error(`ended at ${at}, before ${total}, and did not say so`);
      const tail = await spool.read({ lines }).begin();
      if (!Number.isSafeInteger(tail) || tail < 0) throw new Error(`the tail begins at ${tail}`);
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}

function change(original, steps) {
  const files = original.map((octets) => Buffer.from(octets));
  for (const [index, verb, where, what] of steps) {
    const octets = files[index];
    if (octets === undefined) continue;
    const at = Math.min(where ?? 0, octets.length);
    if (verb === 'set' && at < octets.length) octets[at] = what;
    if (verb === 'cut') files[index] = octets.subarray(0, at);
    if (verb === 'insert')
      files[index] = Buffer.concat([
        octets.subarray(0, at),
        Buffer.from(what, 'hex'),
        octets.subarray(at),
      ]);
    if (verb === 'double') files[index] = Buffer.from(original[where]);
    if (verb === 'drop') files[index] = undefined;
  }
  return files;
}
