import { errnoOf, quoteText } from '@wins/base';
import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';

const HEAD_BYTES = 256;
const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
const ANY_EXECUTES = 0o111;
/** ELF machine numbers (`e_machine`) that a processor can run, by `process.arch`. */
const MACHINES: Readonly<Partial<Record<string, readonly number[]>>> = {
  x64: [62, 3],
  arm64: [183, 40],
};

/** Returns why the kernel would refuse to execute the file. Node would pass a refused file to /bin/sh. */
export async function faultOfProgram(path: string): Promise<string | undefined> {
  await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const { mode } = await file.stat();
  if ((mode & ANY_EXECUTES) === 0)
    return `it is not executable (mode ${(mode & 0o7777).toString(8)}): chmod +x`;
  const bytes = Buffer.alloc(HEAD_BYTES);
  const { bytesRead } = await file.read(bytes, 0, HEAD_BYTES, 0);
  const head = bytes.subarray(0, bytesRead);
  if (head.length === 0) return 'it is empty';
  if (head.subarray(0, 2).toString('latin1') === '#!') return await faultOfScript(head);
  const isElf = head.length >= 20 && head.subarray(0, 4).equals(ELF);
  const wanted = MACHINES[process.arch];
  const machine = isElf ? head.readUInt16LE(18) : 0;
  if (!isElf) return 'it is neither an ELF program nor a script with "#!"';
  if (wanted !== undefined && !wanted.includes(machine))
    return `it is a program for another processor (ELF machine ${machine}); wanted one for ${process.arch}`;
  return undefined;
}

async function faultOfScript(head: Buffer): Promise<string | undefined> {
  const line = head.toString().slice(2).split('\n', 1)[0] ?? '';
  const interpreter = line.trim().split(/[ \t]/, 1)[0] ?? '';
  if (interpreter === '') return 'its "#!" names no interpreter';
  try {
    await access(interpreter, constants.X_OK);
    return undefined;
  } catch (error) {
    const is = errnoOf(error) === 'ENOENT' ? 'does not exist' : 'cannot be executed';
    return `its interpreter ${quoteText(interpreter)} ${is}`;
  }
}
