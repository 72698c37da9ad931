import { debugServiceDefinition } from '@wins/wins-api/contract';
import { service, type Feature } from '../../kernel/feature.js';
import { runs } from '../runs/feature.js';
import { tunnel } from '../tunnel/feature.js';
import { createDebugService, WHAT } from './debug-service.js';
import { diagnosticsFacts } from './diagnostics-facts.js';

export const diagnostics: Feature = {
  name: 'diagnostics',
  stage: 'serves',
  purpose: WHAT,
  settings: ({ config }) =>
    config.debugPipe ? {} : { reason: 'its config says debugPipe: false; set debugPipe: true' },
  whenOff: { code: 'debugOff', message: (reason) => `cannot ${WHAT}: ${reason}` },
  services: (view, { audit }) => [
    service(debugServiceDefinition, 'admin', (callers) =>
      createDebugService(callers, { audit, requireOn: () => void view.require() }),
    ),
  ],
  facts: (_running, _settings, kernel) =>
    diagnosticsFacts(
      kernel.pipe.connections.list(),
      kernel.of(runs).running?.manager.list() ?? [],
      kernel.of(tunnel).running?.list() ?? [],
    ),
};
