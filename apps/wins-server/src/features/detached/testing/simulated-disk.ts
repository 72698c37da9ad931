/** A disk in memory, with the calls of `node:fs` that the daemon and its keepers make. Longer than most files, because all calls change the same entries. */
import { constants, type Stats } from 'node:fs';
import os from 'node:os';
import { promisify } from 'node:util';

const { O_CREAT, O_EXCL, O_TRUNC, O_WRONLY, O_RDWR, O_APPEND } = constants;
const FLAGS: Readonly<Record<string, number>> = {
  r: constants.O_RDONLY,
  'r+': O_RDWR,
  w: O_WRONLY | O_CREAT | O_TRUNC,
  wx: O_WRONLY | O_CREAT | O_EXCL,
};
/** Lists the open files, by numbers, as Linux does. */
const DESCRIPTORS = '/proc/self/fd';

interface Rights {
  readonly mode?: number | undefined;
}

interface Removal {
  readonly recursive?: boolean | undefined;
  readonly force?: boolean | undefined;
}

type Bytes = Uint8Array | string;
type Done = (error: unknown, result?: unknown) => void;

class Folder {
  readonly names = new Set<string>();
  mode = 0o700;
  nlink = 1;
}

class RegularFile {
  bytes = Buffer.alloc(0);
  sizeBytes = 0;
  mode: number;
  nlink = 1;

  constructor(mode: number) {
    this.mode = mode;
  }

  write(bytes: Uint8Array, at: number): number {
    if (bytes.length === 0) return 0;
    const end = at + bytes.length;
    if (end > this.bytes.length) {
      const larger = Buffer.allocUnsafe(end);
      this.bytes.copy(larger, 0, 0, this.sizeBytes);
      this.bytes = larger;
    }
    // Other bytes may have been there.
    if (at > this.sizeBytes) this.bytes.fill(0, this.sizeBytes, at);
    this.bytes.set(bytes, at);
    this.sizeBytes = Math.max(this.sizeBytes, end);
    return bytes.length;
  }

  get content(): Buffer {
    return this.bytes.subarray(0, this.sizeBytes);
  }
}

type Entry = Folder | RegularFile;

interface OpenFile {
  readonly file: string;
  readonly entry: Entry;
  readonly flags: number;
  at: number;
}

/**
 * Regular files and folders, with absolute paths, and the calls of `node:fs` (`calls`) and `node:fs/promises` (`promises`) that the daemon needs;
 * others are absent. Each change is made at once and nothing fails but what POSIX refuses, or for lack of space while the disk is full. `latency`
 * returns a promise of the end of an asynchronous call, or undefined if it ends at once. This file is long, because it is one list of these calls.
 */
export class SimulatedDisk {
  readonly #entries = new Map<string, Entry>([['/', new Folder()]]);
  readonly #open = new Map<number, OpenFile>();
  readonly #latency: () => Promise<void> | undefined;
  /** True: no folder is made and no file grows. The bytes of a file can be replaced. */
  isFull = false;
  #folders = 0;
  #lastNumber = 100;

  constructor(latency: () => Promise<void> | undefined = () => undefined) {
    this.#latency = latency;
  }

  /** Replaces `node:fs`. */
  get calls() {
    const disk = this.#synchronous();
    return {
      constants,
      ...disk,
      open: this.#late(disk.openSync),
      close: this.#late(disk.closeSync),
      fsync: this.#late((number: number) => void this.#opened(number)),
      fchmod: this.#late((number: number, mode: number) => {
        this.#opened(number).entry.mode = mode;
      }),
      fchown: this.#late((number: number) => void this.#opened(number)),
      rename: this.#late(disk.renameSync),
      unlink: this.#late(disk.unlinkSync),
      write: this.#late(disk.writeSync, (bytesWritten) => ({ bytesWritten })),
      read: this.#late(disk.readSync, (bytesRead) => ({ bytesRead })),
      promises: this.promises,
    };
  }

  /** Replaces `node:fs/promises`. */
  get promises() {
    const disk = this.#synchronous();
    const late =
      <Given extends readonly unknown[], Result>(work: (...given: Given) => Result) =>
      async (...given: Given): Promise<Result> => {
        try {
          return work(...given);
        } finally {
          const latency = this.#latency();
          if (latency !== undefined) await latency;
        }
      };
    return {
      constants,
      chmod: late(disk.chmodSync),
      lstat: late(disk.lstatSync),
      mkdir: late(disk.mkdirSync),
      mkdtemp: late(disk.mkdtempSync),
      readdir: late(disk.readdirSync),
      rename: late(disk.renameSync),
      rm: late(disk.rmSync),
      stat: late(disk.lstatSync),
      unlink: late(disk.unlinkSync),
      open: late((file: string, flags: string | number, mode?: number) => {
        const number = disk.openSync(file, flags, mode);
        return {
          fd: number,
          stat: late(() => disk.fstatSync(number)),
          read: late((buffer: Buffer, at?: number, length?: number, position?: number | null) => ({
            bytesRead: disk.readSync(number, buffer, at, length, position),
            buffer,
          })),
          write: late((bytes: Bytes, at?: number, length?: number, position?: number | null) => ({
            bytesWritten: disk.writeSync(number, bytes, at, length, position),
          })),
          truncate: late((sizeBytes: number) => {
            const { entry } = this.#opened(number);
            if (entry instanceof RegularFile)
              entry.sizeBytes = Math.min(entry.sizeBytes, sizeBytes);
          }),
          sync: late(() => void this.#opened(number)),
          datasync: late(() => void this.#opened(number)),
          close: late(() => disk.closeSync(number)),
        };
      }),
    };
  }

  #synchronous() {
    return {
      existsSync: (file: string) => this.#entries.has(file),
      lstatSync: (file: string) => statsOf(this.#found(file, 'lstat')),
      statSync: (file: string) => statsOf(this.#found(file, 'stat')),
      fstatSync: (number: number) => statsOf(this.#opened(number).entry),
      mkdirSync: (file: string, options?: Rights & Pick<Removal, 'recursive'>) => {
        if (options?.recursive !== true) this.#add(file, new Folder(), 'mkdir');
        else this.#addAll(file);
      },
      mkdtempSync: (prefix: string) => {
        const folder = `${prefix}${String((this.#folders += 1)).padStart(6, '0')}`;
        this.#addAll(folderOf(folder));
        this.#add(folder, new Folder(), 'mkdtemp');
        return folder;
      },
      readdirSync: (folder: string, options?: Pick<Removal, 'recursive'>) => {
        if (folder === DESCRIPTORS) return [...this.#open.keys()].map(String);
        if (options?.recursive === true) {
          const below: string[] = [];
          this.#addBelow(folder, '', below);
          return below;
        }
        return [...this.#folder(folder, 'scandir').names];
      },
      readlinkSync: (link: string) => this.#opened(Number(nameOf(link))).file,
      readFileSync: (file: string | number, encoding?: BufferEncoding) => {
        const entry =
          typeof file === 'number' ? this.#opened(file).entry : this.#found(file, 'open');
        if (entry instanceof Folder) throw failure('EISDIR', 'read', String(file));
        return encoding === undefined
          ? Buffer.from(entry.content)
          : entry.content.toString(encoding);
      },
      writeFileSync: (
        file: string,
        bytes: Bytes,
        options?: Rights & { readonly flag?: string },
      ) => {
        const entry = this.#writable(file, FLAGS[options?.flag ?? 'w'] ?? 0, options?.mode);
        if (entry instanceof RegularFile) this.#write(entry, Buffer.from(bytes as string), 0, file);
      },
      openSync: (file: string, flags: string | number = 'r', mode?: number) => {
        const bits = typeof flags === 'number' ? flags : (FLAGS[flags] ?? 0);
        const entry = this.#writable(file, bits, mode);
        const number = (this.#lastNumber += 1);
        const at = (bits & O_APPEND) !== 0 && entry instanceof RegularFile ? entry.sizeBytes : 0;
        this.#open.set(number, { file, entry, flags: bits, at });
        return number;
      },
      closeSync: (number: number) => {
        this.#opened(number);
        this.#open.delete(number);
      },
      writeSync: (
        number: number,
        given: Bytes,
        from = 0,
        length?: number,
        position?: number | null,
      ) => {
        const opened = this.#opened(number);
        const bytes = typeof given === 'string' ? Buffer.from(given) : given;
        if ((opened.flags & (O_WRONLY | O_RDWR)) === 0 || !(opened.entry instanceof RegularFile))
          throw failure('EBADF', 'write', opened.file);
        const end = from + (length ?? bytes.length - from);
        const [piece, at] = [bytes.subarray(from, end), position ?? opened.at];
        const written = this.#write(opened.entry, piece, at, opened.file);
        if (position === undefined || position === null) opened.at += written;
        return written;
      },
      readSync: (
        number: number,
        buffer: Buffer,
        from = 0,
        length = buffer.length - from,
        position?: number | null,
      ) => {
        const opened = this.#opened(number);
        if ((opened.flags & O_WRONLY) !== 0) throw failure('EBADF', 'read', opened.file);
        if (!(opened.entry instanceof RegularFile)) throw failure('EISDIR', 'read', opened.file);
        const at = Math.min(position ?? opened.at, opened.entry.sizeBytes);
        const read = opened.entry.content.copy(buffer, from, at, at + length);
        if (position === undefined || position === null) opened.at += read;
        return read;
      },
      renameSync: (from: string, to: string) => {
        const entry = this.#found(from, 'rename');
        this.#folder(folderOf(to), 'rename');
        if (entry instanceof Folder || this.#entries.get(to) instanceof Folder)
          throw failure('EISDIR', 'rename', to);
        if (from === to) return;
        if (this.#entries.has(to)) this.#remove(to);
        this.#remove(from);
        this.#add(to, entry, 'rename').nlink = 1;
      },
      unlinkSync: (file: string) => {
        if (this.#found(file, 'unlink') instanceof Folder) throw failure('EISDIR', 'unlink', file);
        this.#remove(file);
      },
      rmdirSync: (folder: string) => {
        if (this.#folder(folder, 'rmdir').names.size > 0)
          throw failure('ENOTEMPTY', 'rmdir', folder);
        this.#remove(folder);
      },
      rmSync: (file: string, { recursive = false, force = false }: Removal = {}) => {
        if (force && this.#isAbsent(file)) return;
        const entry = this.#found(file, 'rm');
        if (entry instanceof Folder && !recursive) throw failure('EISDIR', 'rm', file);
        this.#clear(file, entry);
        this.#remove(file);
      },
      chmodSync: (file: string, mode: number) => {
        this.#found(file, 'chmod').mode = mode;
      },
    };
  }

  /** Returns the form of a call with a callback, which `promisify` turns into one with a promise. */
  #late<Given extends readonly unknown[], Result>(
    work: (...given: Given) => Result,
    named: (result: Result) => unknown = (result) => result,
  ) {
    const promised = async (...given: Given): Promise<unknown> => {
      try {
        return named(work(...given));
      } finally {
        const latency = this.#latency();
        if (latency !== undefined) await latency;
      }
    };
    const called = (...given: readonly unknown[]): void => {
      const done = given.at(-1) as Done;
      const work = promised(...(given.slice(0, -1) as unknown as Given));
      work.then((result) => done(null, result), done);
    };
    return Object.assign(called, { [promisify.custom]: promised });
  }

  #found(file: string, call: string): Entry {
    const entry = this.#entries.get(file);
    if (entry !== undefined) return entry;
    throw failure(this.#isAbsent(file) ? 'ENOENT' : 'ENOTDIR', call, file);
  }

  /** False also for a path below a regular file. */
  #isAbsent(file: string): boolean {
    let above = file;
    while (!this.#entries.has(above)) above = folderOf(above);
    return above !== file && this.#entries.get(above) instanceof Folder;
  }

  #folder(file: string, call: string): Folder {
    const entry = this.#found(file, call);
    if (entry instanceof Folder) return entry;
    throw failure('ENOTDIR', call, file);
  }

  #opened(number: number): OpenFile {
    const opened = this.#open.get(number);
    if (opened === undefined) throw failure('EBADF', 'use', String(number));
    return opened;
  }

  #write(entry: RegularFile, bytes: Uint8Array, at: number, file: string): number {
    if (this.isFull && at + bytes.length > entry.sizeBytes) throw failure('ENOSPC', 'write', file);
    return entry.write(bytes, at);
  }

  #writable(file: string, flags: number, mode = 0o666): Entry {
    const entry = this.#entries.get(file);
    if (entry === undefined) {
      if ((flags & O_CREAT) === 0) return this.#found(file, 'open');
      return this.#add(file, new RegularFile(mode), 'open');
    }
    if ((flags & O_EXCL) !== 0) throw failure('EEXIST', 'open', file);
    const writes = (flags & (O_WRONLY | O_RDWR)) !== 0;
    if (writes && entry instanceof Folder) throw failure('EISDIR', 'open', file);
    if ((flags & O_TRUNC) !== 0 && entry instanceof RegularFile) entry.sizeBytes = 0;
    return entry;
  }

  #add<Added extends Entry>(file: string, entry: Added, call: string): Added {
    if (this.#entries.has(file)) throw failure('EEXIST', call, file);
    if (this.isFull && entry instanceof Folder) throw failure('ENOSPC', call, file);
    this.#folder(folderOf(file), call).names.add(nameOf(file));
    this.#entries.set(file, entry);
    return entry;
  }

  #addAll(folder: string): void {
    if (this.#entries.get(folder) instanceof Folder) return;
    const parent = folderOf(folder);
    if (!this.#entries.has(parent)) this.#addAll(parent);
    this.#add(folder, new Folder(), 'mkdir');
  }

  #remove(file: string): void {
    this.#found(file, 'unlink').nlink = 0;
    this.#entries.delete(file);
    this.#folder(folderOf(file), 'unlink').names.delete(nameOf(file));
  }

  /** Removes all entries of a folder. */
  #clear(folder: string, entry: Entry): void {
    if (!(entry instanceof Folder)) return;
    for (const name of entry.names) {
      const file = `${folder}/${name}`;
      const inside = this.#found(file, 'unlink');
      this.#clear(file, inside);
      inside.nlink = 0;
      this.#entries.delete(file);
    }
    entry.names.clear();
  }

  /** Adds the names of all entries of a folder, and of the folders in it, each after `prefix`. */
  #addBelow(folder: string, prefix: string, below: string[]): void {
    for (const name of this.#folder(folder, 'scandir').names) {
      const file = `${folder}/${name}`;
      below.push(`${prefix}${name}`);
      if (this.#entries.get(file) instanceof Folder)
        this.#addBelow(file, `${prefix}${name}/`, below);
    }
  }
}

/** Paths are absolute and normal, so these do what `node:path` does, which takes a tenth of the time of a history. */
function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf('/')) || '/';
}

function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

function statsOf(
  entry: Entry,
): Pick<Stats, 'isFile' | 'isDirectory' | 'size' | 'mode' | 'nlink' | 'mtimeMs'> {
  const isFile = entry instanceof RegularFile;
  const type = isFile ? constants.S_IFREG : constants.S_IFDIR;
  return {
    isFile: () => isFile,
    isDirectory: () => !isFile,
    size: isFile ? entry.sizeBytes : 0,
    mode: type | entry.mode,
    nlink: entry.nlink,
    mtimeMs: 0,
  };
}

function failure(code: string, call: string, file: string): Error {
  const errno = -((os.constants.errno as Readonly<Record<string, number>>)[code] ?? 0);
  const facts = { code, errno, syscall: call, path: file };
  return Object.assign(new Error(`${code}: cannot ${call} ${file}`), facts);
}
