import type { Check } from '../../doctor/doctor-host.js';
import { cannotTell, ok, problem, warning, type Finding } from '../../doctor/finding.js';

const NAME = 'host port';
const ADVICE: Readonly<Record<string, string>> = {
  busy: 'stop the program that listens there, or choose another port',
  failed: 'it is retried; "wins srv network status" shows its state',
  rejected: 'correct hostNetwork.ports in the config',
};

export const checkHostPorts: Check = {
  name: NAME,
  needsConfig: true,
  look: async (host, { config }) => {
    if ((config.hostNetwork?.ports ?? []).length === 0) return [];
    try {
      const { Ports } = await host.networkStatus(config.listen);
      const findings = Ports.flatMap(({ Protocol, Listen, State, Detail }): readonly Finding[] => {
        const name = `${Protocol} ${Listen}`;
        const advice = ADVICE[State];
        if (advice !== undefined) return [problem(NAME, `${name} is ${State}: ${Detail}`, advice)];
        if (State === 'listening' && Detail !== '') {
          const advice = 'name the address in "listen", or free the port there';
          return [warning(NAME, `${name} is not reached everywhere: ${Detail}`, advice)];
        }
        if (State !== 'down') return [];
        return [
          warning(NAME, `${name} was torn down by hand`, '"wins srv network apply" restores it'),
        ];
      });
      return findings.length > 0 ? findings : [ok(NAME, `${Ports.length} ports are relayed`)];
    } catch (error) {
      return [cannotTell(NAME, error, 'the state of the ports')];
    }
  },
};
