import { preparePrivateFolder } from '@wins/trusted-files';
import { quoteText } from '@wins/wins-program';
import { AuditError } from './audit-error.js';
import { encodeFacts, type AuditFacts } from './audit-record.js';
import { ChainWriter } from './chain-writer.js';
import { foundBy } from './found-by.js';
import { FloodGate, type Flood } from './flood-gate.js';

const MAX_WAITING = 4096;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const MAX_BATCH_BYTES = 256 * 1024;
const RETRY_MS = 1000;

/** How a log is opened; only the folder must be given. */
export interface AuditLogOptions {
  /** Absolute path of a folder that is this log's alone; made when absent. One log at a time may be open there. */
  readonly directory: string;
  /** A file that would become larger is followed by the next: 64 KiB to 1 GiB. Default 8 MiB. */
  readonly maxFileBytes?: number;
  /** Beyond so many files the oldest is removed, and a record says so: 2 to 1,024. Default 16. */
  readonly maxFiles?: number;
  /** Makes the folder, or refuses it. Default, not on Windows: mode 0700, owned by this user. */
  readonly prepareDirectory?: (directory: string) => void | Promise<void>;
  /** Told whenever records can no longer be written, with why, and when they can be again. It must not throw. */
  readonly onChange?: (isAvailable: boolean, reason?: AuditError) => void;
  /** Told of records that were lost, and of acts that were refused since their record could not be written. It must not throw. */
  readonly onLost?: (count: number) => void;
  /** Told of each record that stands for many: at most one a second, and one at the end. It must not throw. */
  readonly onCounted?: (record: AuditFacts) => void;
}

/** What became of the records since the log was opened. */
export interface AuditCounts {
  /** Flushed to the disk. */
  readonly written: number;
  /** Not written, and what they were about may have happened. */
  readonly lost: number;
  /** Not written, and what they were about was refused. */
  readonly refused: number;
}

/** A log that is open. Whoever opened it closes it. */
export interface AuditLog extends AsyncDisposable {
  /** Whether the latest write went well. While it is false it is tried again once a second, and by each `append`. */
  readonly isAvailable: boolean;
  readonly counts: AuditCounts;
  /**
   * Writes a record; what it is about may happen when this resolves, which is when it is flushed to the disk.
   *
   * @param flood - Given for what one can cause at will: beyond ten a second it is counted.
   * @throws AuditError `unavailable` when the record cannot be written, or 4,096 records or 4 MiB wait; `invalidRecord`;
   * `closed`.
   */
  append(record: AuditFacts, flood?: Flood): Promise<void>;
  /**
   * Writes a record that no one waits for. One that is lost is counted, and the number becomes a record. Never throws.
   *
   * @returns False for one of a flood, of which only the number is written.
   */
  note(record: AuditFacts, flood?: Flood): boolean;
  /** Writes what was taken, and closes. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens a log behind what is there already. A log that cannot be written is opened as well, and is not available.
 *
 * @throws AuditError `invalidOption`.
 */
export async function openAuditLog(options: AuditLogOptions): Promise<AuditLog> {
  const log = new FileAuditLog({
    directory: options.directory,
    maxFileBytes: inRange('maxFileBytes', options.maxFileBytes ?? 2 ** 23, 2 ** 16, 2 ** 30),
    maxFiles: inRange('maxFiles', options.maxFiles ?? 16, 2, 1024),
    prepareDirectory: options.prepareDirectory ?? preparePrivateFolder,
    onChange: options.onChange ?? (() => undefined),
    onLost: options.onLost ?? (() => undefined),
    onCounted: options.onCounted ?? (() => undefined),
  });
  await log.begin();
  return log;
}

interface Waiting {
  /** As `encodeFacts` gave it. */
  readonly text: string;
  readonly sizeBytes: number;
  /** Absent for a note. */
  readonly settle?: (error?: AuditError) => void;
}

class FileAuditLog implements AuditLog {
  readonly #writer: ChainWriter;
  readonly #gate = new FloodGate();
  /** Undefined before the first write. */
  #state: boolean | undefined;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** Not told yet by a record. */
  #lost = 0;
  #refused = 0;
  readonly #counts = { written: 0, lost: 0, refused: 0 };
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #turn: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  readonly #options: Required<AuditLogOptions>;

  constructor(options: Required<AuditLogOptions>) {
    this.#options = options;
    this.#writer = new ChainWriter(options);
  }

  get isAvailable(): boolean {
    return this.#state === true;
  }

  get counts(): AuditCounts {
    return { ...this.#counts };
  }

  /** Opens the file by the first record of this opening. */
  async begin(): Promise<void> {
    this.note({ kind: 'opened' });
    await this.#writing;
  }

  append(record: AuditFacts, flood?: Flood): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: AuditError): void =>
        error === undefined ? resolve() : reject(error);
      const encode = this.#encoder(record);
      if (this.#isCounted(record.kind, encode, flood)) {
        if (this.isAvailable) settle();
        else settle(this.#unavailable('it could not be written'));
        return;
      }
      if (!this.#take(encode(), 1, settle)) {
        this.#lose({ refused: 1 });
        throw this.#unavailable(`${this.#waiting.length} records wait for the disk`);
      }
    });
  }

  note(record: AuditFacts, flood?: Flood): boolean {
    try {
      const encode = this.#encoder(record);
      if (this.#isCounted(record.kind, encode, flood)) return false;
      // Half of the room is for those who wait.
      if (this.#take(encode(), 0.5)) return true;
    } catch {
      // It is counted, and the number told: no one waits for this one.
    }
    this.#lose({ lost: 1 });
    return true;
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    clearTimeout(this.#retry);
    clearTimeout(this.#turn);
    this.#tellCounted(true);
    this.#pump();
    await this.#writing;
    await this.#writer.close().catch(() => undefined);
  }

  /** The text of a record, made when it is first wanted: of most in a flood it never is. */
  #encoder(record: AuditFacts): () => string {
    if (this.#closing !== undefined) {
      throw new AuditError('closed', `cannot record ${record.kind}: the audit log is closed`);
    }
    const time = new Date();
    let text: string | undefined;
    return () => (text ??= encodeFacts(record, time));
  }

  #isCounted(kind: string, encode: () => string, flood: Flood | undefined): boolean {
    if (flood === undefined) return false;
    const nowMs = performance.now();
    this.#tellCounted(false, nowMs);
    if (this.#gate.admit(kind, () => encode().length, flood, nowMs)) return false;
    const waitMs = this.#gate.dueInMs(nowMs);
    if (waitMs !== undefined && this.#turn === undefined) {
      this.#turn = setTimeout(() => {
        this.#turn = undefined;
        this.#tellCounted(true);
      }, waitMs).unref();
    }
    return true;
  }

  #tellCounted(force: boolean, nowMs = performance.now()): void {
    const counted = this.#gate.turn(nowMs, force);
    if (counted === undefined) return;
    clearTimeout(this.#turn);
    this.#turn = undefined;
    if (!this.#take(encodeFacts(counted, new Date()), 1)) this.#lose({ lost: 1 });
    this.#options.onCounted(counted);
  }

  /** @param share - How much of the room there is for such a record. */
  #take(text: string, share: number, settle?: Waiting['settle']): boolean {
    const sizeBytes = Buffer.byteLength(text);
    const isFull =
      this.#waiting.length >= MAX_WAITING * share ||
      this.#waitingBytes + sizeBytes > MAX_WAITING_BYTES * share;
    if (isFull) return false;
    this.#waiting.push({ text, sizeBytes, ...(settle && { settle }) });
    this.#waitingBytes += sizeBytes;
    this.#pump();
    return true;
  }

  #pump(): void {
    this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    // What is recorded in the same turn is flushed together.
    await Promise.resolve();
    while (this.#waiting.length > 0 || this.#lost > 0 || this.#refused > 0) {
      if (!(await this.#writeSome())) break;
    }
    // In this turn: who is told of a record may bring the next one at once.
    this.#writing = undefined;
  }

  /** @returns False when the disk refuses: then nothing that waits would fare better. */
  async #writeSome(): Promise<boolean> {
    const batch = this.#nextBatch();
    const { lost, refused } = { lost: this.#lost, refused: this.#refused };
    try {
      const losses = this.#losses(lost, refused);
      await this.#writer.append([...losses, ...batch.map(({ text }) => text)]);
    } catch (cause) {
      this.#fail([...batch, ...this.#waiting], cause);
      return false;
    }
    this.#lost -= lost;
    this.#refused -= refused;
    this.#counts.written += batch.length;
    for (const { settle } of batch) settle?.();
    this.#become(true);
    return true;
  }

  #nextBatch(): Waiting[] {
    let sizeBytes = 0;
    let count = 0;
    const mostBytes = Math.min(MAX_BATCH_BYTES, this.#options.maxFileBytes / 2);
    for (const waiting of this.#waiting) {
      if (count > 0 && sizeBytes + waiting.sizeBytes > mostBytes) break;
      sizeBytes += waiting.sizeBytes;
      count += 1;
    }
    this.#waitingBytes -= sizeBytes;
    return this.#waiting.splice(0, count);
  }

  #losses(lost: number, refused: number): readonly string[] {
    if (lost === 0 && refused === 0) return [];
    const kind = this.isAvailable ? 'lost' : 'resumed';
    return [encodeFacts({ kind, lost, refused }, new Date())];
  }

  #fail(waiting: readonly Waiting[], cause: unknown): void {
    const error = this.#unavailable(foundBy(cause), cause);
    this.#waiting = [];
    this.#waitingBytes = 0;
    const notes = waiting.filter(({ settle }) => settle === undefined).length;
    this.#lose({ lost: notes, refused: waiting.length - notes });
    for (const { settle } of waiting) settle?.(error);
    this.#become(false, error);
    if (this.#closing !== undefined) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#pump(), RETRY_MS).unref();
  }

  #lose({ lost = 0, refused = 0 }: { readonly lost?: number; readonly refused?: number }): void {
    if (lost + refused === 0) return;
    this.#lost += lost;
    this.#refused += refused;
    this.#counts.lost += lost;
    this.#counts.refused += refused;
    this.#options.onLost(lost + refused);
  }

  #become(isAvailable: boolean, reason?: AuditError): void {
    if (this.#state === isAvailable) return;
    this.#state = isAvailable;
    this.#options.onChange(isAvailable, reason);
  }

  #unavailable(found: string, cause?: unknown): AuditError {
    const message = `cannot write the audit log in ${quoteText(this.#options.directory)}: ${found}`;
    return new AuditError('unavailable', message, cause);
  }
}

function inRange(name: string, value: number, least: number, most: number): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const wanted = `a whole number from ${least} to ${most}`;
  throw new AuditError(
    'invalidOption',
    `cannot open an audit log: ${name} is ${value}; wanted ${wanted}`,
  );
}
