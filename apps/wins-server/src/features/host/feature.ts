import {
  hnsServiceDefinition,
  hostServiceDefinition,
  networkServiceDefinition,
} from '@wins/wins-api/contract';
import type { Feature } from '../../kernel/feature.js';
import { hostServices } from './host-services.js';

export const host: Feature = {
  ...{ name: 'host', stage: 'serves', purpose: 'describe the host' },
  settings: () => ({}),
  services: (_view, { hostCalls }) => {
    const services = hostServices(hostCalls);
    return [
      { definition: hostServiceDefinition, pipe: 'main', implement: () => services.host },
      { definition: networkServiceDefinition, pipe: 'main', implement: () => services.network },
      { definition: hnsServiceDefinition, pipe: 'main', implement: () => services.hns },
    ];
  },
};
