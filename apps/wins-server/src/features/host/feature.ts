import {
  hnsServiceDefinition,
  hostServiceDefinition,
  networkServiceDefinition,
} from '@wins/wins-api/contract';
import type { Feature } from '../../kernel/feature.js';
import { createHnsService } from './hns-service.js';
import { createHostService } from './host-service.js';
import { createNetworkService } from './network-service.js';

/** Tells clients about their host. */
export const host: Feature = {
  name: 'host',
  stage: 'serves',
  purpose: 'tell about the host',
  settings: () => ({}),
  services: (_view, { hostCalls: calls }) => [
    { definition: hostServiceDefinition, pipe: 'main', implement: () => createHostService(calls) },
    {
      definition: networkServiceDefinition,
      pipe: 'main',
      implement: () => createNetworkService(calls),
    },
    { definition: hnsServiceDefinition, pipe: 'main', implement: () => createHnsService(calls) },
  ],
};
