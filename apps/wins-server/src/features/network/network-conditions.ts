import type { HostNetworkStatus, Standing } from '@wins/host-network';
import { summary, warning, type Reported } from '../../kernel/conditions/condition.js';
import {
  NAME,
  some,
  sourceConditions,
  START_MS,
  type NamedSource,
} from '../host-network/source-conditions.js';

const REFUSED: readonly Standing['state'][] = ['conflict', 'rejected'];
const WAITING: readonly Standing['state'][] = ['waiting'];

export function networkConditions(
  { kind, standings, orphans, problems, isDown }: HostNetworkStatus,
  sources: readonly NamedSource[],
): readonly Reported[] {
  const bySource = sources.flatMap(sourceConditions);
  const details = (states: readonly Standing['state'][]): readonly string[] =>
    standings
      .filter(({ state }) => states.includes(state))
      .map(({ destination, detail }) => `${destination}: ${detail}`);
  const orphaned = 'routes are marked as made by wins, but have no known owner: ';
  const fix = 'correct "hostNetwork" in the config, or remove the obstacle';
  const retried = `correct it; it is retried, or now by "wins srv network ${isDown ? 'teardown' : 'apply'}"`;
  const wait = 'wait: the daemon adds the route when the missing part exists';
  const remove = 'remove them by hand if they are unused';
  const down = isDown ? ['it was torn down by hand'] : [];
  const restores = '"wins srv network apply" restores it';
  const unwell = [
    ...some('warning', 'networkDown', down, '', restores),
    ...some('problem', 'networkNotChanged', problems, '', retried),
    ...some('problem', 'routeRefused', details(REFUSED), '', fix),
    ...some('warning', 'routeWaiting', details(WAITING), '', wait),
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
