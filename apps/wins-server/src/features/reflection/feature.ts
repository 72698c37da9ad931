import type { Feature } from '../../kernel/feature.js';
import { createReflection } from './reflection.js';

export const reflection: Feature = {
  name: 'reflection',
  stage: 'serves',
  purpose: 'list the gRPC services',
  readAtStart: ['reflection'],
  settings: ({ config }) =>
    config.reflection ? {} : { reason: 'the config says reflection: false' },
  services: (_view, { config }) => {
    if (!config.start.loaded.config.reflection) return [];
    const { definition, implementation } = createReflection();
    return [{ definition, pipe: 'main', hasHealth: false, implement: () => implementation }];
  },
};
