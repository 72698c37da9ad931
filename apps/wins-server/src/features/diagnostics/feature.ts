import { debugServiceDefinition } from '@wins/wins-api/contract';
import { service, type Feature } from '../../kernel/feature.js';
import { runs } from '../runs/feature.js';
import { tunnel } from '../tunnel/feature.js';
import { createDebugService, WHAT } from './debug-service.js';

export const diagnostics: Feature = {
  name: 'diagnostics',
  stage: 'serves',
  purpose: WHAT,
  settings: ({ config }) =>
    config.debugPipe ? {} : { reason: 'its config says debugPipe: false; set debugPipe: true' },
  whenOff: { code: 'debugOff', message: (reason) => `cannot ${WHAT}: ${reason}` },
  services: (view, { audit, level, pipe, ...kernel }) => [
    service(debugServiceDefinition, 'admin', (callers) =>
      createDebugService(callers, {
        ...{ audit, level, requireOn: () => void view.require() },
        connections: () => pipe.connections.list(),
        sessions: () => kernel.of(tunnel).running?.list() ?? [],
        runs: () => kernel.of(runs).running?.manager.list() ?? [],
      }),
    ),
  ],
};
