import type { EventFacts, RingEvent } from '../kernel/events/ring-files.js';

const AT_MS = Date.parse('2026-11-30T00:00:00Z');

export type Told = EventFacts & { readonly type: string };

/** Events a second apart. */
export function toldEvents(...facts: readonly Told[]): readonly RingEvent[] {
  return facts.map((each, index) => {
    const time = new Date(AT_MS + index * 1000).toISOString();
    return { ...each, seq: index + 1, time };
  });
}

/** Seconds since the first of {@link toldEvents}. */
export function secondsAt(atMs: number | undefined): number | undefined {
  return atMs && (atMs - AT_MS) / 1000;
}
