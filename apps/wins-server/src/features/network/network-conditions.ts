import type { HostNetworkStatus } from '@wins/host-network';
import type { NamedSource } from './network-facts.js';
import {
  problem,
  summary,
  warning,
  type Level,
  type Reported,
} from '../../kernel/conditions/condition.js';

const NAME = 'host network';
const TOLD = 3;
/** Time in which a source first answers. */
const START_MS = 10_000;

export function networkConditions(
  { kind, standings, orphans, problems, isDown }: HostNetworkStatus,
  sources: readonly NamedSource[],
): readonly Reported[] {
  const bySource = sources.flatMap(sourceConditions);
  if (isDown) {
    const restores = '"wins srv network apply" restores it';
    return [warning(NAME, 'networkDown', 'it was torn down by hand', restores), ...bySource];
  }
  const details = (...states: readonly string[]): readonly string[] =>
    standings
      .filter(({ state }) => states.includes(state))
      .map(({ destination, detail }) => `${destination}: ${detail}`);
  const orphaned = 'routes are marked as made by wins, but have no known owner: ';
  const fix = 'correct "hostNetwork" in the config, or remove the obstacle';
  const retried = 'correct it; it is retried, or now by "wins srv network apply"';
  const wait = 'wait: the daemon adds the route when the missing part exists';
  const remove = 'remove them by hand if they are unused';
  const unwell = [
    ...some('problem', 'networkNotChanged', problems, '', retried),
    ...some('problem', 'routeRefused', details('conflict', 'rejected'), '', fix),
    ...some('warning', 'routeWaiting', details('waiting'), '', wait),
    ...some('warning', 'routeOrphaned', orphans, orphaned, remove),
  ];
  if (unwell.length > 0) return [...unwell, ...bySource];
  if (kind !== 'settled') {
    const more = { visibleAfterMs: START_MS };
    const see = 'see "wins srv network status"';
    return [warning(NAME, 'networkUnfinished', `it is ${kind}`, see, more), ...bySource];
  }
  const routes = standings.filter((standing) => standing.kind === 'route').length;
  const containers = routes < standings.length ? ', and the network of containers,' : '';
  return [summary(NAME, `${routes} routes${containers} are in place`), ...bySource];
}

/** @param source - Lists other hosts, or ports that containers publish. */
export function sourceConditions(source: NamedSource): readonly Reported[] {
  const { source: name, state, ageMs, items, skipped, skippedCount, isLimited, isDoubted } = source;
  const silent =
    ageMs === undefined
      ? 'has not answered yet'
      : `last answered ${Math.floor(ageMs / 1000)} s ago`;
  const [one, more] =
    name === 'containers'
      ? (['published port', 'published ports'] as const)
      : (['other host', 'other hosts'] as const);
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
    found.push(warning(NAME, 'sourceTooLarge', many, 'split the cluster', { subject }));
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

function some(
  level: Exclude<Level, 'ok'>,
  code: string,
  texts: readonly string[],
  before: string,
  advice: string,
): readonly Reported[] {
  if (texts.length === 0) return [];
  const found = before + firstOf(texts);
  return [
    level === 'problem' ? problem(NAME, code, found, advice) : warning(NAME, code, found, advice),
  ];
}

/** Lists the first texts, and counts the others. */
export function firstOf(texts: readonly string[]): string {
  const more = texts.length - TOLD;
  return `${texts.slice(0, TOLD).join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
