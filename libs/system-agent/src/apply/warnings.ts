import type { AgentEvent } from '../agent-event.js';
import { quoteText } from '@wins/base';
import type { ParsedPlan } from '../plan/parse-plan.js';

/** Beyond this, the oldest topics may be reported again. */
const MAX_TOPICS = 1000;

/** Reports a warning once, and again when its message changes or the solved problem returns. */
export class Warnings {
  readonly #told = new Map<string, string>();
  readonly #onEvent: (event: AgentEvent) => void;

  constructor(onEvent: (event: AgentEvent) => void) {
    this.#onEvent = onEvent;
  }

  /**
   * Reports `message`, unless it equals the last message for this `source` and `topic`. An undefined `message` means that the
   * problem is solved. Put details that vary into `error`, because a different `error` alone causes no new report.
   */
  tell(source: string, topic: string, message: string | undefined, error?: unknown): void {
    const key = JSON.stringify([source, topic]);
    if (this.#told.get(key) === message) return;
    this.#told.delete(key);
    if (message === undefined) return;
    this.#told.set(key, message);
    const [oldest] = this.#told.keys();
    if (this.#told.size > MAX_TOPICS && oldest !== undefined) this.#told.delete(oldest);
    const cause = error instanceof Error ? { error } : {};
    this.#onEvent({ kind: 'warning', source, message, ...cause });
  }

  async attempt(source: string, topic: string, message: string, action: () => Promise<void>) {
    try {
      await action();
      this.tell(source, topic, undefined);
    } catch (error) {
      this.tell(source, topic, message, error);
    }
  }
}

export function warnOfKeys(
  warnings: Warnings,
  source: string,
  { checksum, unknownKeys }: ParsedPlan,
  unreadable: readonly string[] = [],
): void {
  const [first] = unknownKeys;
  const unknown = `plan ${checksum} has ${unknownKeys.length} unknown keys, such as ${quoteText(first ?? '')}`;
  warnings.tell(source, 'unknown keys', first === undefined ? undefined : unknown);
  const defaults = `cannot read ${unreadable.join(', ')} of the Secret: using defaults`;
  warnings.tell(source, 'keys', unreadable.length === 0 ? undefined : defaults);
}
