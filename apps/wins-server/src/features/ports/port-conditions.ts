import { problem, summary, warning, type Reported } from '../../kernel/conditions/condition.js';
import type { PortRelays, PortStanding } from '@wins/tcp-tunnel';

export const NAME = 'host port';
/** Time to open a port whose address is about to appear. */
const OPEN_MS = 10_000;
const ADVICE: Readonly<Record<string, string>> = {
  busy: 'stop the program that listens there, or choose another port',
  failed: 'it is retried; "wins srv network status" shows its state',
  rejected: 'correct hostNetwork.ports in the config, or the ports of the container',
};

/** Whether nothing is relayed, because of a fault. */
export function isFaulty({ state }: Pick<PortStanding, 'state'>): boolean {
  return ADVICE[state] !== undefined;
}

export function portConditions({ standings }: Pick<PortRelays, 'standings'>): readonly Reported[] {
  const unwell = standings.flatMap(({ proto, listen, state, detail }): readonly Reported[] => {
    const subject = `${proto} ${listen}`;
    const advice = ADVICE[state];
    if (advice !== undefined) {
      const found = `${subject} is ${state}: ${detail}`;
      return [problem(NAME, 'portNotRelayed', found, advice, { subject })];
    }
    if (state === 'down') {
      const again = '"wins srv network apply" restores it';
      return [warning(NAME, 'portDown', `${subject} was torn down by hand`, again, { subject })];
    }
    if (state === 'starting') {
      const more = { subject, visibleAfterMs: OPEN_MS };
      return [warning(NAME, 'portStarting', `${subject} does not listen yet`, 'wait', more)];
    }
    if (detail === '') return [];
    const found = `${subject} is not reached everywhere: ${detail}`;
    const free = 'name the address in "listen", or free the port there';
    return [warning(NAME, 'portPartlyRelayed', found, free, { subject })];
  });
  if (unwell.length > 0 || standings.length === 0) return unwell;
  const found =
    standings.length === 1 ? '1 port is relayed' : `${standings.length} ports are relayed`;
  return [summary(NAME, found)];
}
