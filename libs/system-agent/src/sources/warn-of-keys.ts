import { quoteText } from '@wins/base';
import type { Warnings } from '../apply/warnings.js';
import type { ParsedPlan } from '../plan/parse-plan.js';

/** Warns of unknown keys of a plan, and of unreadable keys of the Secret. */
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
