import { FeatureError } from '../feature-error.js';
import { AuditLog, type AuditCounts, type AuditLogOptions } from './audit-log.js';
import type { Logger } from '../log/logger.js';
import type { AuditFacts } from './audit-record.js';
import { decisionMessage, recordRule, type Decision } from './decision.js';

/** Value of the field `log` in lines of the daemon's log. It marks copies of audit records. */
export const AUDIT = 'audit';

export interface AuditTrailOptions extends Omit<AuditLogOptions, 'onChange' | 'onCounted'> {
  /** Receives each decision after the audit log has recorded or counted it. Must not throw. */
  readonly onDecision?: (decision: Decision) => void;
  /** Returns the trace of the call in progress, which each decision gets. */
  readonly traceId?: () => string | undefined;
}

/**
 * The audit log is authoritative; copies in the daemon's log may be lost. In a flood of allowed actions, both logs list the first ones and count the
 * rest. Each refusal has its own line in the daemon's log, unless the caller passes it to {@link counted}. While the audit log cannot be
 * written, actions that need a record are refused.
 */
export class AuditTrail {
  readonly #log: AuditLog;
  /** Decisions that the audit log has counted but the daemon's log has not reported yet. */
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
            'cannot write the audit log: actions that need a record are refused',
          );
        this.#onChange(isAvailable);
      },
      onCounted: (record) => this.#copyCounted(record),
    });
  }

  /** Call only when the daemon owns its pipe, because only the owner may write to the folder. */
  open(onChange: (isAvailable: boolean) => void): Promise<void> {
    this.#onChange = onChange;
    return this.#log.open();
  }

  /**
   * Records a decision. Returns a promise if the action has to wait for the record. Floods are counted per `client`; default: the requester.
   * @throws FeatureError `auditUnavailable`, possibly as a rejection, if the action must not happen.
   */
  decided(given: Decision, client?: string): Promise<void> | undefined {
    const traceId = this.#options.traceId?.();
    const decision = traceId === undefined ? given : { ...given, traceId };
    const { when, flood } = recordRule(decision, client);
    const record = recordOf(decision);
    if (when === 'before') return this.#log.append(record, flood).then(() => this.#copy(decision));
    if (when === 'with' && !this.isAvailable)
      throw new FeatureError('auditUnavailable', 'the audit log cannot be written now');
    const isWritten = this.#log.note(record, flood);
    if (!isWritten && decision.verdict === 'allowed') {
      this.#notCopied += 1;
      this.#options.onDecision?.(withoutRecording(decision));
    } else this.#copy(decision);
    return undefined;
  }

  /**
   * Takes a refusal that belongs to a flood. The audit log records or counts the refusal. In the daemon's log, the caller reports only the number of
   * such refusals.
   */
  counted(decision: Decision, client: string): void {
    this.#log.note(recordOf(decision), recordRule(decision, client).flood);
    this.#options.onDecision?.(withoutRecording(decision));
  }

  note(kind: string, facts: Readonly<Record<string, unknown>> = {}): void {
    this.#log.note({ kind, ...facts });
  }

  /** Whether the latest write of the audit log succeeded. */
  get isAvailable(): boolean {
    return this.#log.isAvailable;
  }

  get counts(): AuditCounts {
    return this.#log.counts;
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  #copy(given: Decision): void {
    const decision = withoutRecording(given);
    this.#options.onDecision?.(decision);
    const level = decision.verdict === 'refused' ? 'warn' : 'info';
    if (!this.#logger.isLevelEnabled(level)) return;
    this.#logger[level]({ log: AUDIT, ...decision }, decisionMessage(given));
  }

  #copyCounted({ groups }: AuditFacts): void {
    const count = this.#notCopied;
    this.#notCopied = 0;
    if (count > 0)
      this.#logger.info({ log: AUDIT, count, groups }, 'allowed more actions than this log lists');
  }
}

function withoutRecording({ recording: _, ...decision }: Decision): Decision {
  return decision;
}

function recordOf({ action, recording: _, ...facts }: Decision) {
  return { kind: action, ...facts };
}
