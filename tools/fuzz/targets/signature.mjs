import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Programs to change: one with a plain signature; one with a second signature, whose certificate has expired after its timestamp. */
const ORIGINALS = ['signed', 'stamped'];
const corpus = path.resolve(import.meta.dirname, '../corpus/signature');
/** Beginning of a timestamp's content: version 1, and a policy. */
const TIME = '02010106042a0304013031';
const TIME_BYTES = 96;
/** BER tags and lengths (long, indefinite, beyond the end), and some identifiers and times. */
const PIECES = [
  '3080',
  '30ffff',
  '3084ffffffff',
  'a080',
  '0000',
  '0600',
  '060100',
  '02820001',
  '1700',
  '0500',
];
const BLOCK_BYTES = 4096;
const CHECKSUM = 0x98 + 64;
const DIRECTORY = 0x98 + 112 + 32;

/**
 * Opens a fuzz target that changes a signed program. The program may be accepted only if the changes left its signed content
 * intact. The message of a refusal must be printable. The position `at` of a change is in thousandths of the file or of the
 * certificate table.
 */
export async function openSignature({ SignedProgram }) {
  const originals = new Map(
    ORIGINALS.map((name) => {
      const text = readFileSync(path.join(corpus, `as-it-was-${name}.json`), 'utf8');
      const { program, ...rest } = JSON.parse(text);
      const bytes = Buffer.from(program, 'base64');
      const time = bytes.indexOf(Buffer.from(TIME, 'hex'));
      const stamp = time < 0 ? undefined : bytes.subarray(time, time + TIME_BYTES);
      return [name, { ...rest, bytes, stamp }];
    }),
  );
  return {
    name: 'signature',
    generate: (rng) => {
      const step = () => ({
        edit: rng.pick(['flip', 'flip', 'flip', 'insert', 'cut', 'repeat', 'number', 'fit']),
        in: rng.pick(['file', 'table', 'table']),
        at: rng.below(1000),
        bytes: rng.choose([3, () => rng.pick(PIECES)], [1, () => rng.hex(1 + rng.below(9))]),
        times: rng.pick([1, 1, 1, 2, 100, 5000]),
      });
      const original = rng.pick(ORIGINALS);
      return { original, steps: [step(), ...rng.list(4, step)] };
    },
    async run({ original, steps }) {
      const { bytes: signed, stamp, rule, now } = originals.get(original);
      let bytes = Buffer.from(signed);
      for (const step of steps) bytes = changed(bytes, step);
      const program = new SignedProgram();
      for (let at = 0; at < bytes.length; at += BLOCK_BYTES)
        await program.take(bytes.subarray(at, at + BLOCK_BYTES), at);
      const found = await program.refuse(rule, new Date(now));
      if (steps.length === 0 && found !== undefined) throw new Error(`refused: ${found}`);
      if (found === undefined && !contentOf(bytes).equals(contentOf(signed)))
        throw new Error('accepted a program without a valid signature');
      if (found === undefined && stamp !== undefined && !bytes.includes(stamp))
        throw new Error('accepted an expired certificate without a valid timestamp');
      if (found !== undefined && (/[\p{C}\p{Zl}\p{Zp}]/u.test(found) || found.length > 20_000))
        throw new Error(`not to be shown: ${JSON.stringify(found.slice(0, 300))}`);
    },
    close: () => undefined,
  };
}

/** Returns the signed content: everything before the certificate table, except the checksum and the position of the table. */
function contentOf(bytes) {
  const content = Buffer.from(bytes.subarray(0, tableOf(bytes)));
  content.fill(0, CHECKSUM, CHECKSUM + 4);
  content.fill(0, DIRECTORY, DIRECTORY + 8);
  return content;
}

function tableOf(bytes) {
  return bytes.length < DIRECTORY + 8 ? 0 : Math.min(bytes.readUInt32LE(DIRECTORY), bytes.length);
}

function changed(bytes, { edit, in: location, at, bytes: hex, times }) {
  const start = location === 'table' ? tableOf(bytes) : 0;
  const position = start + Math.floor(((bytes.length - start) * at) / 1000);
  const piece = Buffer.from(hex.repeat(times), 'hex');
  const [before, after] = [bytes.subarray(0, position), bytes.subarray(position)];
  switch (edit) {
    case 'flip':
      if (after.length > 0) after[0] ^= piece[0] || 1;
      return bytes;
    case 'insert':
      return Buffer.concat([before, piece, after]);
    case 'cut':
      return Buffer.concat([before, after.subarray(piece.length)]);
    case 'repeat':
      return Buffer.concat([bytes, bytes.subarray(position)]);
    case 'number':
      piece.copy(bytes, position);
      return bytes;
    default: {
      // Correct the lengths in the headers, so that the reader reaches the content.
      const table = tableOf(bytes);
      if (table === 0 || bytes.length < table + 8) return bytes;
      const whole = Buffer.concat([bytes, Buffer.alloc(-bytes.length & 7)]);
      whole.writeUInt32LE(whole.length - table, table);
      whole.writeUInt32LE(whole.length - table, DIRECTORY + 4);
      return whole;
    }
  }
}
