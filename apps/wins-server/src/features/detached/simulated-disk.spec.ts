import * as fc from 'fast-check';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SimulatedDisk } from './testing/simulated-disk.js';

type Calls = Pick<
  typeof fs,
  | ('openSync' | 'closeSync' | 'writeSync' | 'readSync' | 'fstatSync' | 'lstatSync' | 'statSync')
  | ('mkdirSync' | 'readdirSync' | 'rmdirSync' | 'rmSync' | 'unlinkSync' | 'renameSync')
  | ('existsSync' | 'readFileSync' | 'writeFileSync' | 'chmodSync' | 'mkdtempSync')
>;
/** `opened` are the open files of the history. */
type Call = (calls: Calls, folder: string, opened: number[]) => unknown;
/** No open file has this number. */
const CLOSED = 1_000_000;

const { O_RDONLY, O_RDWR, O_WRONLY, O_CREAT, O_EXCL, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } =
  fs.constants;
const name = fc.constantFrom('a', 'b', 'c', 'a/x', 'a/y', 'a/x/z', 'c/x');
const bytes = fc.constantFrom('', 'one', 'another', 'the third');
const mode = fc.constantFrom(0o600, 0o700);
const flags = fc.constantFrom(
  ...([O_RDONLY | O_NOFOLLOW | O_NONBLOCK, O_RDWR, O_RDWR | O_CREAT | O_NOFOLLOW] as const),
  ...([O_RDWR | O_CREAT | O_EXCL, O_WRONLY | O_CREAT | O_TRUNC, 'r', 'r+', 'wx'] as const),
);
const position = fc.constantFrom(0, 1, 20, null);

function oneOf(opened: readonly number[], which: number): number {
  return opened[which % Math.max(1, opened.length)] ?? CLOSED;
}

function factsOf(stats: fs.Stats): unknown {
  const isFile = stats.isFile();
  const sizeBytes = isFile ? stats.size : 0;
  return {
    isFile,
    isFolder: stats.isDirectory(),
    sizeBytes,
    isNamed: stats.nlink > 0,
    ...(isFile && { mode: stats.mode }),
  };
}

const call: fc.Arbitrary<Call> = fc.oneof(
  fc.tuple(name, flags, mode).map(([file, how, rights]): Call => (calls, folder, opened) => {
    opened.push(calls.openSync(path.join(folder, file), how, rights));
  }),
  fc.nat(9).map((which): Call => (calls, _folder, opened) => {
    const number = oneOf(opened, which);
    opened.splice(0, opened.length, ...opened.filter((each) => each !== number));
    calls.closeSync(number);
  }),
  fc
    .tuple(fc.nat(9), bytes, position)
    .map(([which, text, at]): Call => (calls, _folder, opened) => {
      return calls.writeSync(oneOf(opened, which), Buffer.from(text), 0, text.length, at);
    }),
  fc.tuple(fc.nat(9), position).map(([which, at]): Call => (calls, _folder, opened) => {
    const buffer = Buffer.alloc(8);
    return [calls.readSync(oneOf(opened, which), buffer, 0, 8, at), buffer.toString()];
  }),
  fc.nat(9).map(
    (which): Call =>
      (calls, _folder, opened) =>
        factsOf(calls.fstatSync(oneOf(opened, which))),
  ),
  name.map(
    (file): Call =>
      (calls, folder) =>
        factsOf(calls.lstatSync(path.join(folder, file))),
  ),
  name.map(
    (file): Call =>
      (calls, folder) =>
        calls.existsSync(path.join(folder, file)),
  ),
  name.map(
    (file): Call =>
      (calls, folder) =>
        calls.readdirSync(path.join(folder, file)).sort(),
  ),
  name.map(
    (file): Call =>
      (calls, folder) =>
        calls.readFileSync(path.join(folder, file), 'utf8'),
  ),
  name.map(
    (file): Call =>
      (calls, folder) =>
        calls.unlinkSync(path.join(folder, file)),
  ),
  name.map(
    (file): Call =>
      (calls, folder) =>
        calls.rmdirSync(path.join(folder, file)),
  ),
  fc.tuple(name, fc.boolean()).map(([file, recursive]): Call => (calls, folder) => {
    calls.mkdirSync(path.join(folder, file), { recursive, mode: 0o700 });
  }),
  fc.tuple(name, fc.boolean()).map(([file, force]): Call => (calls, folder) => {
    calls.rmSync(path.join(folder, file), { recursive: true, force });
  }),
  fc.tuple(name, bytes, mode).map(([file, text, rights]): Call => (calls, folder) => {
    calls.writeFileSync(path.join(folder, file), text, { mode: rights });
  }),
  fc.tuple(name, mode).map(([file, rights]): Call => (calls, folder) => {
    calls.chmodSync(path.join(folder, file), rights);
  }),
  fc.tuple(name, name).map(([from, to]): Call => (calls, folder) => {
    // The daemon renames files alone, and never to the name of a folder above.
    const source = path.join(folder, from);
    if (from.startsWith(to)) return;
    if (calls.existsSync(source) && calls.lstatSync(source).isFile())
      calls.renameSync(source, path.join(folder, to));
  }),
);

/** Returns what each call gives, or the code of its error, and then all files. */
function outcomes(calls: Calls, history: readonly Call[]): unknown {
  const folder = calls.mkdtempSync(path.join(tmpdir(), 'simulated-disk-'));
  const opened: number[] = [];
  try {
    const found = history.map((each) => {
      try {
        return each(calls, folder, opened);
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    });
    return [found, calls.readdirSync(folder, { recursive: true }).map(String).sort()];
  } finally {
    for (const number of opened) calls.closeSync(number);
    calls.rmSync(folder, { recursive: true, force: true });
  }
}

describe('the simulated disk', () => {
  it('behaves like a real one in random histories of calls', () => {
    const property = fc.property(fc.array(call, { maxLength: 30, size: 'max' }), (history) => {
      const simulated = new SimulatedDisk().calls as unknown as Calls;
      expect(outcomes(simulated, history)).toEqual(outcomes(fs, history));
    });
    fc.assert(property, { numRuns: 200 });
  });
});
