import { DAEMON_DOWN, type Check } from '../../kernel/doctor-host.js';
import { parseListenAddress } from '@wins/base';
import { ok, warning } from '../../kernel/conditions/condition.js';

/** Further ports are not checked. */
const MOST_PORTS = 32;
const RECENT_MS = 15 * 60_000;

/** Checks up to `MOST_PORTS` of the ports that containers may reach, each with one connection of at most a second. */
export const checkPorts: Check = {
  name: 'port',
  needsConfig: true,
  look: async (host, { config: { whiteList, listen, metrics } }) => {
    const ports = whiteList.proxyPorts.slice(0, MOST_PORTS);
    if (ports.length === 0) return [];
    const ownPort = metrics && parseListenAddress(metrics.listen)?.port;
    const since = host.now() - RECENT_MS;
    const slow = (await host.recentEvents(listen).catch(() => [])).filter(
      ({ type, time }) => type === 'connectSlow' && Date.parse(time) > since,
    );
    return Promise.all(
      ports.map(async (port) => {
        const state = await host.dial(port);
        if (state === 'refused') {
          const advice = 'start its server, or remove the port from white_list.proxyPorts';
          const found = `nothing listens on port ${port} of this host`;
          const causes = port === ownPort ? [DAEMON_DOWN] : [];
          return warning('port', 'portClosed', found, advice, { causes });
        }
        const last = slow.findLast((event) => event['port'] === port);
        if (state === 'open' && last === undefined)
          return ok('port', `port ${port} accepts connections`);
        const found =
          state === 'open'
            ? `port ${port} accepts connections but sent nothing for 15 s, last at ${last?.time}`
            : `port ${port} did not accept a connection within 1 s`;
        return warning('port', 'portSilent', found, 'restart its server: it hangs');
      }),
    );
  },
};
