import { statusServiceDefinition, type StatusServiceServer } from '@wins/wins-api/contract';
import { service, type Feature, type Kernel } from '../../kernel/feature.js';
import { administratorsOnly } from '../../kernel/rpc/administrators-only.js';

/** Only for administrators, because the state names runs and hosts of all clients. */
export const status: Feature = {
  name: 'status',
  stage: 'serves',
  purpose: 'tell its state',
  settings: () => ({}),
  services: (_view, kernel) => [
    service(statusServiceDefinition, 'both', (callers) => {
      const answer = administratorsOnly(callers, 'show the state of the daemon');
      const server: StatusServiceServer = {
        read: (call, respond) => answer(call, respond, () => stateOf(kernel)),
      };
      return server;
    }),
  ],
};

function stateOf(kernel: Pick<Kernel, 'config' | 'conditions'>) {
  return {
    configFile: kernel.config.inForce().path,
    pid: process.pid,
    startedAt: new Date(Date.now() - process.uptime() * 1000).toISOString(),
    conditions: kernel
      .conditions()
      .map(({ check, code = '', level, found, advice = '', ...more }) => ({
        check,
        code,
        level,
        found,
        advice,
        since: more.since,
        causes: [...(more.causes ?? [])],
        isSummary: more.isSummary ?? false,
      })),
  };
}
