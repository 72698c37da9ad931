import type { SourceStatus } from '@wins/host-network';
import {
  problem,
  summary,
  warning,
  type Level,
  type Reported,
} from '../../kernel/conditions/condition.js';

export const NAME = 'host network';
const TOLD = 3;
/** Time in which a source first answers. */
export const START_MS = 10_000;

export type NamedSource = SourceStatus<object> & { readonly source: string };

/** @param source - Lists other hosts, or ports that containers publish. */
export function sourceConditions(source: NamedSource): readonly Reported[] {
  const { source: name, state, ageMs, items, skipped, skippedCount, isLimited, isDoubted } = source;
  const silent =
    ageMs === undefined
      ? 'has not answered yet'
      : `last answered ${Math.floor(ageMs / 1000)} s ago`;
  const [one, more, less] =
    name === 'containers'
      ? (['published port', 'published ports', 'publish fewer ports'] as const)
      : (['other host', 'other hosts', 'split the cluster'] as const);
  const known = `${name}: ${items.length} ${items.length === 1 ? one : more}`;
  const subject = name;
  const found: Reported[] = [];
  if (state === 'degraded' || state === 'stale') {
    const text = `${known} kept, and it ${silent}: ${source.problem}`;
    const level = state === 'degraded' ? problem : warning;
    const stays = 'its last answer stays in use until it answers again';
    const code = state === 'degraded' ? 'sourceLost' : 'sourceStale';
    found.push(level(NAME, code, text, stays, { subject }));
  } else if (isDoubted) {
    const text = `${known} kept, although most are missing in its latest snapshot`;
    found.push(warning(NAME, 'sourceDoubted', text, 'look again in 10 s', { subject }));
  } else if (state === 'starting') {
    const waits = { subject, visibleAfterMs: START_MS };
    found.push(warning(NAME, 'sourceSilent', `${name}: it ${silent}`, 'wait', waits));
  } else found.push(summary(NAME, known));
  if (isLimited) {
    const many = `${name}: it has more ${more} than the daemon accepts`;
    found.push(warning(NAME, 'sourceTooLarge', many, less, { subject }));
  }
  if (skippedCount > 0) {
    const first = skipped
      .slice(0, TOLD)
      .map(({ id, code }) => `${id || 'one without an id'}: ${code}`);
    const text = `${name}: ${skippedCount} of its elements are skipped: ${first.join('; ')}`;
    const correct = 'correct the labels of these hosts, or the ports of these containers';
    found.push(warning(NAME, 'elementSkipped', text, correct, { subject }));
  }
  return [...found, ...duplicateConditions(source)];
}

function duplicateConditions({ source, duplicates = [] }: NamedSource): readonly Reported[] {
  const stale = duplicates.filter(({ isStale }) => isStale);
  const alike = duplicates.filter(({ isStale }) => !isStale);
  const names = stale.slice(0, TOLD).map(({ id }) => id);
  return [
    ...some(
      'warning',
      'hostStale',
      stale.map(({ id, of }) => `${id} (now ${of})`),
      `${source}: stale Node objects, whose hosts joined again: `,
      `kubectl delete node ${names.join(' ')}`,
    ),
    ...some(
      'warning',
      'hostTwice',
      alike.map(({ id, of }) => `${id} and ${of}`),
      `${source}: hosts have the same address: `,
      'give each its own address, or remove the one that does not exist any more',
    ),
  ];
}

export function some(
  level: Exclude<Level, 'ok'>,
  code: string,
  texts: readonly string[],
  before: string,
  advice: string,
): readonly Reported[] {
  if (texts.length === 0) return [];
  const found = before + firstOf(texts);
  return [(level === 'problem' ? problem : warning)(NAME, code, found, advice)];
}

/** Lists the first texts, and counts the others. */
export function firstOf(texts: readonly string[], most = TOLD, separator = '; '): string {
  const more = texts.length - most;
  const shown = texts.slice(0, most);
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join(separator);
}
