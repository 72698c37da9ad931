import type { FeatureChecks } from '../../kernel/feature.js';
import { judgeCsiProxy } from './settings/judge-settings.js';

export const csiProxyChecks: FeatureChecks = {
  judge: judgeCsiProxy,
  secrets: ({ csiProxy: section }) => {
    const query = section?.url.split('?')[1];
    return [...(section?.args ?? []), ...(query === undefined ? [] : [query, ...query.split('&')])];
  },
};
