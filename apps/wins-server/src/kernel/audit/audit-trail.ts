import { FeatureError } from '../feature-error.js';
import { AuditLog, type AuditCounts, type AuditLogOptions } from './audit-log.js';
import type { Logger } from '../log/logger.js';
import type { AuditFacts } from './audit-record.js';
import { decisionMessage, recordRule, type Decision } from './decision.js';

/** The field `log` of a line of the daemon's log that is a copy of an audit record. */
export const AUDIT = 'audit';

/** Where and how the trail is kept, and its listener. */
export interface AuditTrailOptions extends Omit<AuditLogOptions, 'onChange' | 'onCounted'> {
  /** Called with each decision once it is recorded, or counted as one of a flood. It must not throw. Default: no call. */
  readonly onDecision?: (decision: Decision) => void;
}

/**
 * The daemon's record of what was decided: in the audit log, which is the truth, and copied to the daemon's log, which may lose
 * lines. Of a flood of what is allowed both have the first lines and then numbers; each refusal is a line there. What must not
 * happen without a record is refused while none can be written.
 */
export class AuditTrail {
  readonly #log: AuditLog;
  /** Decisions that the audit log has counted, and the daemon's log has not heard of yet. */
  #notCopied = 0;

  readonly #options: AuditTrailOptions;
  readonly #logger: Logger;
  #onChange: (isAvailable: boolean) => void = () => undefined;

  constructor(options: AuditTrailOptions, logger: Logger) {
    this.#options = options;
    this.#logger = logger;
    const { directory } = options;
    this.#log = new AuditLog({
      ...options,
      onChange: (isAvailable, err) => {
        if (isAvailable) logger.info({ directory }, 'the audit log can be written');
        else
          logger.error(
            { directory, err },
            'cannot write the audit log: what must be recorded is refused',
          );
        this.#onChange(isAvailable);
      },
      onCounted: (record) => this.#copyCounted(record),
    });
  }

  /**
   * Opens the log; before, nothing can be recorded. Call it once the daemon has its pipe: the daemon that has it is the only one that
   * writes to the folder. When the log cannot be written, the daemon's log says so, and it is tried again once a second.
   *
   * @param onChange - Learns whether records can be written, at first and when that changes.
   */
  open(onChange: (isAvailable: boolean) => void): Promise<void> {
    this.#onChange = onChange;
    return this.#log.open();
  }

  /**
   * Records a decision.
   *
   * @param client - By whom floods are counted: a client, not its connections. Default: the connection.
   * @returns A promise when its act has to wait for the record.
   * @throws FeatureError `auditUnavailable` when its act must not happen: at once, or as the promise.
   */
  decided(decision: Decision, client?: string): Promise<void> | undefined {
    const { when, flood } = recordRule(decision, client);
    const record = recordOf(decision);
    if (when === 'before') {
      return this.#log.append(record, flood).then(() => this.#copy(decision));
    }
    if (when === 'with' && !this.isAvailable) {
      throw new FeatureError('auditUnavailable', 'the audit log cannot be written now');
    }
    const isWritten = this.#log.note(record, flood);
    if (!isWritten && decision.verdict === 'allowed') {
      this.#notCopied += 1;
      this.#options.onDecision?.(decision);
    } else this.#copy(decision);
    return undefined;
  }

  /** Records one of a flood of refusals, which the daemon's log gets from its source as a number. */
  counted(decision: Decision, client: string): void {
    this.#log.note(recordOf(decision), recordRule(decision, client).flood);
    this.#options.onDecision?.(decision);
  }

  /** Records what happens in the daemon itself. */
  note(kind: string, facts: Readonly<Record<string, unknown>> = {}): void {
    this.#log.note({ kind, ...facts });
  }

  /** Whether a decision can be recorded now, as far as is known. */
  get isAvailable(): boolean {
    return this.#log.isAvailable;
  }

  /** Counts of the records so far, by outcome. */
  get counts(): AuditCounts {
    return this.#log.counts;
  }

  /** Writes what was recorded, and closes. Idempotent. */
  close(): Promise<void> {
    return this.#log.close();
  }

  #copy(decision: Decision): void {
    this.#options.onDecision?.(decision);
    const level = decision.verdict === 'refused' ? 'warn' : 'info';
    if (!this.#logger.isLevelEnabled(level)) return;
    this.#logger[level]({ log: AUDIT, ...decision }, decisionMessage(decision));
  }

  #copyCounted({ groups }: AuditFacts): void {
    const count = this.#notCopied;
    this.#notCopied = 0;
    if (count > 0)
      this.#logger.info({ log: AUDIT, count, groups }, 'allowed more than is written out');
  }
}

function recordOf({ action, ...facts }: Decision) {
  return { kind: action, ...facts };
}
