/** How many of a kind keep the process alive. */
export interface ActiveHandles {
  /** As Node calls it, such as `PipeWrap`, `Timeout` or `FSReqPromise`. */
  readonly kind: string;
  readonly count: number;
}

const MOST_KINDS = 64;

/** What keeps this process alive, by kind, the most frequent first; 64 kinds at most. */
export function activeHandles(): readonly ActiveHandles[] {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts]
    .map(([kind, count]) => ({ kind, count }))
    .sort((one, other) => other.count - one.count || one.kind.localeCompare(other.kind))
    .slice(0, MOST_KINDS);
}
