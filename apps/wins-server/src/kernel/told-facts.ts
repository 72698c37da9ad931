import type { FeatureFacts } from '@wins/wins-api/contract';

/** State of one feature: the JSON of its command. */
export type Told<Facts> =
  | { readonly on: false; readonly reason: string }
  | ({ readonly on: true } & Facts);

/** Trusts that the facts have this type, because the daemon and its commands are one program. */
export function factsIn<Facts extends object>(
  features: readonly FeatureFacts[],
  name: string,
): Told<Facts> {
  const found = features.find((each) => each.name === name);
  if (found?.on === true) return { on: true, ...(JSON.parse(found.facts) as Facts) };
  return { on: false, reason: found?.reason ?? 'the daemon did not report it' };
}
