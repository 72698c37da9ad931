import { systemClock, type Clock } from '@wins/time';
import type { Reported } from './condition.js';

/** Maximum number of conditions of one source. Clients can cause conditions, for example by their runs. */
const MOST_OF_SOURCE = 64;
const MOST_TEXT = 1024;

/** A feature, or another part of the daemon. */
export interface ConditionSource {
  readonly name: string;
  readonly report: () => readonly Reported[];
}

/** A condition that the daemon has seen. */
export type Seen = Reported & { readonly source: string; readonly since: string };

export interface ConditionsOptions {
  /** Receives each warning and problem when it becomes visible, and when it ends. */
  readonly onChange: (phase: 'began' | 'ended', condition: Seen) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

interface Tracked {
  readonly seenMs: number;
  readonly isVisible: boolean;
  readonly condition: Seen;
}

type BySubject = ReadonlyMap<string, Tracked>;

/** Remembers since when each condition lasts. */
export class Conditions {
  readonly #sources: readonly ConditionSource[];
  readonly #onChange: ConditionsOptions['onChange'];
  readonly #clock: Clock;
  readonly #tracked = new Map<string, BySubject>();

  constructor(
    sources: readonly ConditionSource[],
    { onChange, clock = systemClock }: ConditionsOptions,
  ) {
    this.#sources = sources;
    this.#onChange = onChange;
    this.#clock = clock;
  }

  /** Asks all sources again. */
  update(): void {
    for (const source of this.#sources) {
      const before = this.#tracked.get(source.name) ?? new Map<string, Tracked>();
      const after = this.#track(source, before);
      this.#tracked.set(source.name, after);
      for (const [key, { condition }] of before)
        if (isTold(before, key) && !isTold(after, key)) this.#onChange('ended', condition);
      for (const [key, { condition }] of after)
        if (isTold(after, key) && !isTold(before, key)) this.#onChange('began', condition);
    }
  }

  /** The visible conditions of one source. */
  of(name: string): readonly Seen[] {
    const tracked = [...(this.#tracked.get(name)?.values() ?? [])];
    return tracked.filter(({ isVisible }) => isVisible).map(({ condition }) => condition);
  }

  /** The visible conditions of all sources, in their order. */
  list(): readonly Seen[] {
    return this.#sources.flatMap(({ name }) => this.of(name));
  }

  #track({ name: source, report }: ConditionSource, before: BySubject): BySubject {
    const after = new Map<string, Tracked>();
    const nowMs = this.#clock.monotonicMs();
    for (const one of withinLimit(report())) {
      const { check, code = one.found, subject = '', visibleAfterMs = 0 } = one;
      const key = `${check} ${code} ${subject}`;
      const known = before.get(key);
      const seenMs = known?.seenMs ?? nowMs;
      const since = known?.condition.since ?? this.#clock.now().toISOString();
      const isVisible = known?.isVisible === true || nowMs - seenMs >= visibleAfterMs;
      const condition = { ...one, found: one.found.slice(0, MOST_TEXT), source, since };
      after.set(key, { seenMs, isVisible, condition });
    }
    return after;
  }
}

/** Leaves out what is well first, then warnings: clients cause warnings alone, and must not hide a problem. */
function withinLimit(reported: readonly Reported[]): readonly Reported[] {
  if (reported.length <= MOST_OF_SOURCE) return reported;
  const byLevel = (level: Reported['level']) => reported.filter((one) => one.level === level);
  return [...byLevel('problem'), ...byLevel('warning')].slice(0, MOST_OF_SOURCE);
}

/** Whether a key is one of those that events tell. */
function isTold(tracked: BySubject, key: string): boolean {
  const one = tracked.get(key);
  return one?.isVisible === true && one.condition.level !== 'ok';
}
