export interface ActiveHandles {
  /** Node's name for the kind of resource, such as `PipeWrap`, `Timeout` or `FSReqPromise`. */
  readonly kind: string;
  readonly count: number;
}

const MOST_KINDS = 64;

/** Resources that keep this process alive, the most frequent kinds first; at most 64 kinds. */
export function activeHandles(): readonly ActiveHandles[] {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts]
    .map(([kind, count]) => ({ kind, count }))
    .sort((one, other) => other.count - one.count || one.kind.localeCompare(other.kind))
    .slice(0, MOST_KINDS);
}
