const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
const STEPS_MS = [
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
  ...[1, 2, 7].map((days) => days * DAY_MS),
];
const MOST_BINS = 48;
const MOST_TICKS = 6;

/** A time in milliseconds since 1970, and how far along the axis it is, from 0 to 1. */
export interface Tick {
  readonly atMs: number;
  readonly at: number;
}

/** The period that a plot shows. It begins and ends at a multiple of the width of a bin. */
export class TimeAxis {
  readonly fromMs: number;
  readonly toMs: number;
  /** Time at which the page was made, or of a later event: shortly before the axis ends. */
  readonly untilMs: number;
  /** At most 48 fit between beginning and end. */
  readonly binMs: number;

  /** @param fromMs - Milliseconds since 1970; the axis has at least an hour. */
  constructor(fromMs: number, toMs: number) {
    const beginMs = Math.min(fromMs, toMs - HOUR_MS);
    this.binMs = stepFor((toMs - beginMs) / (MOST_BINS - 2));
    this.fromMs = Math.floor(beginMs / this.binMs) * this.binMs;
    this.toMs = Math.ceil(toMs / this.binMs) * this.binMs;
    this.untilMs = toMs;
  }

  get bins(): number {
    return (this.toMs - this.fromMs) / this.binMs;
  }

  /** Returns how far along the axis a time is; times beyond its ends are at its ends. */
  at(timeMs: number): number {
    const at = (timeMs - this.fromMs) / (this.toMs - this.fromMs);
    return Math.min(1, Math.max(0, at));
  }

  has(timeMs: number): boolean {
    return timeMs >= this.fromMs && timeMs <= this.toMs;
  }

  /** The times to name: at most seven. */
  get ticks(): readonly Tick[] {
    const stepMs = stepFor((this.toMs - this.fromMs) / MOST_TICKS);
    const ticks: Tick[] = [];
    for (let atMs = Math.ceil(this.fromMs / stepMs) * stepMs; atMs <= this.toMs; atMs += stepMs)
      ticks.push({ atMs, at: this.at(atMs) });
    return ticks;
  }
}

function stepFor(leastMs: number): number {
  const found = STEPS_MS.find((stepMs) => stepMs >= leastMs);
  return found ?? Math.ceil(leastMs / DAY_MS) * DAY_MS;
}

const pad = (number: number): string => String(number).padStart(2, '0');

/** `2026-11-30 01:45:07`, in UTC. */
export function utc(timeMs: number): string {
  return isDate(timeMs) ? new Date(timeMs).toISOString().slice(0, 19).replace('T', ' ') : 'unknown';
}

/** Time of day in UTC; of an axis longer than two days, month and day. */
export function utcTick(timeMs: number, { fromMs, toMs }: TimeAxis): string {
  return isLong(fromMs, toMs) ? utc(timeMs).slice(5, 10) : utc(timeMs).slice(11, 16);
}

/** Like {@link utcTick}, by the clock of this node. */
export function localTick(timeMs: number, { fromMs, toMs }: TimeAxis): string {
  const date = new Date(timeMs);
  const day = `${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
  return isLong(fromMs, toMs) ? day : `${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

function isLong(fromMs: number, toMs: number): boolean {
  return toMs - fromMs > 2 * DAY_MS;
}

/** The offset of this node's clock, such as `UTC+01:00`. */
export function offsetText(timeMs: number): string {
  const minutes = -new Date(timeMs).getTimezoneOffset();
  const ahead = Math.abs(minutes);
  return `UTC${minutes < 0 ? '-' : '+'}${pad(Math.floor(ahead / 60))}:${pad(ahead % 60)}`;
}

export function isUtcHere(timeMs: number): boolean {
  return new Date(timeMs).getTimezoneOffset() === 0;
}

function isDate(timeMs: number): boolean {
  return Math.abs(timeMs) <= 8.64e15;
}
