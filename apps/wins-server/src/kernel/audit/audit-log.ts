import { TrustedFileError } from '@wins/trusted-files';
import { messageOf, quoteText } from '@wins/base';
import { FeatureError } from '../feature-error.js';
import { encodeFacts, type AuditFacts } from './audit-record.js';
import { ChainWriter, type ChainWriterOptions } from './chain-writer.js';
import { FloodGate, type Flood } from './flood-gate.js';

const MAX_WAITING = 4096;
const MAX_WAITING_BYTES = 4 * 1024 * 1024;
const MAX_BATCH_BYTES = 256 * 1024;
const RETRY_MS = 1000;

export interface AuditLogOptions extends ChainWriterOptions {
  /** Called with false and the reason when records can no longer be written, and with true when they can. */
  readonly onChange?: (isAvailable: boolean, reason?: FeatureError) => void;
  /** Called with the number of lost records, including those of refused actions. */
  readonly onLost?: (count: number) => void;
  /** Called with each record that counts several events: at most once per second, and once when the log is closed. */
  readonly onCounted?: (record: AuditFacts) => void;
}

export interface AuditCounts {
  /** Flushed to the disk. */
  readonly written: number;
  /** Not written, although the action may have happened. */
  readonly lost: number;
  /** Not written, so the action was refused. */
  readonly refused: number;
}

interface Waiting {
  readonly text: string;
  readonly sizeBytes: number;
  /** Absent: nobody waits for this record. */
  readonly settle?: (error?: FeatureError) => void;
}

/** Log of decisions. Records are numbered, hash-chained, and flushed before their action may happen. */
export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #writer: ChainWriter;
  readonly #gate = new FloodGate();
  /** Undefined before the first write. */
  #state: boolean | undefined;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  /** Lost records that the log has not reported yet. */
  #lost = 0;
  #refused = 0;
  readonly #counts = { written: 0, lost: 0, refused: 0 };
  #writing: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #turn: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  #isOpen = false;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#writer = new ChainWriter(options);
  }

  /** Appends an `opened` record to the log. If that fails, the log is open but not available. */
  async open(): Promise<void> {
    this.#isOpen = true;
    this.note({ kind: 'opened' });
    await this.#writing;
  }

  /** Whether the latest write succeeded. After a failure, writes are retried once a second and by each `append`. */
  get isAvailable(): boolean {
    return this.#state === true;
  }

  get counts(): AuditCounts {
    return { ...this.#counts };
  }

  /**
   * Resolves once the record is flushed; then the action may happen. If `flood` is given, similar records beyond ten per second are only counted.
   * @throws FeatureError `auditUnavailable` when it cannot be written, 4,096 records or 4 MiB are queued, or the log is closed.
   */
  append(record: AuditFacts, flood?: Flood): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: FeatureError): void =>
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

  /**
   * Adds a record without waiting for the disk. If records are lost, a later record reports their number. Returns false only if this record
   * belongs to a flood, and was counted instead of added.
   */
  note(record: AuditFacts, flood?: Flood): boolean {
    try {
      const encode = this.#encoder(record);
      if (this.#isCounted(record.kind, encode, flood)) return false;
      // Notes may use half of the queue; the rest is for callers that wait.
      if (this.#take(encode(), 0.5)) return true;
    } catch {
      // Nobody waits for this record, so its loss is only counted.
    }
    this.#lose({ lost: 1 });
    return true;
  }

  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    // The folder of a log that was never opened may belong to another daemon.
    if (!this.#isOpen) return;
    this.#isOpen = false;
    clearTimeout(this.#retry);
    clearTimeout(this.#turn);
    this.#tellCounted(true);
    this.#pump();
    await this.#writing;
    await this.#writer.close().catch(() => undefined);
  }

  /** Lazy, because most records of a flood are never encoded. */
  #encoder(record: AuditFacts): () => string {
    if (!this.#isOpen) {
      const message = `cannot record ${record.kind}: the audit log is not open`;
      throw new FeatureError('auditUnavailable', message);
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
    if (waitMs !== undefined && this.#turn === undefined)
      this.#turn = setTimeout(() => {
        this.#turn = undefined;
        this.#tellCounted(true);
      }, waitMs).unref();
    return true;
  }

  #tellCounted(force: boolean, nowMs = performance.now()): void {
    const counted = this.#gate.turn(nowMs, force);
    if (counted === undefined) return;
    clearTimeout(this.#turn);
    this.#turn = undefined;
    if (!this.#take(encodeFacts(counted, new Date()), 1)) this.#lose({ lost: 1 });
    this.#options.onCounted?.(counted);
  }

  /** @param share - Fraction of the queue that may be in use. */
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
    // Records of the same event-loop turn are flushed together.
    await Promise.resolve();
    while (this.#waiting.length > 0 || this.#lost > 0 || this.#refused > 0) {
      if (!(await this.#writeSome())) break;
    }
    // No await after the loop, or a record appended meanwhile would stay in the queue.
    this.#writing = undefined;
  }

  /** @returns False when the write failed: further writes would fail too. */
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
    if (!this.#isOpen) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#pump(), RETRY_MS).unref();
  }

  #lose({ lost = 0, refused = 0 }: { readonly lost?: number; readonly refused?: number }): void {
    if (lost + refused === 0) return;
    this.#lost += lost;
    this.#refused += refused;
    this.#counts.lost += lost;
    this.#counts.refused += refused;
    this.#options.onLost?.(lost + refused);
  }

  #become(isAvailable: boolean, reason?: FeatureError): void {
    if (this.#state === isAvailable) return;
    this.#state = isAvailable;
    this.#options.onChange?.(isAvailable, reason);
  }

  #unavailable(found: string, cause?: unknown): FeatureError {
    const message = `cannot write the audit log in ${quoteText(this.#options.directory)}: ${found}`;
    return new FeatureError('auditUnavailable', message, { cause });
  }
}

/** Returns a description of the problem in `error`. If only a part of the path is not trusted, the description begins with that part. */
function foundBy(error: unknown): string {
  if (!(error instanceof TrustedFileError)) return messageOf(error);
  return error.at === error.path ? error.found : `${quoteText(error.at)}: ${error.found}`;
}
