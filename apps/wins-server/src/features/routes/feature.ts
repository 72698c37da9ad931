import { routeServiceDefinition } from '@wins/wins-api/contract';
import type { Feature } from '../../kernel/feature.js';
import { createRouteService } from './route-service.js';

interface RouteSettings {
  readonly granted: readonly string[];
}

export const routes: Feature<RouteSettings> = {
  name: 'routes',
  stage: 'serves',
  purpose: 'change routes',
  settings: ({ config }) => ({ granted: config.routes.allow }),
  services: (view, { hostCalls }) => [
    {
      definition: routeServiceDefinition,
      pipe: 'main',
      implement: () => createRouteService(hostCalls, () => view.settings?.granted ?? []),
    },
  ],
};
