import type { FeatureChecks } from '../kernel/feature.js';
import { CHECKS } from './checks.js';
import { FEATURES } from './features.js';

describe('the checks for processes beside the daemon', () => {
  it.each(['judge', 'doctor', 'secrets'] as const)(
    'are those of all features, in the same order: %s',
    (part) => {
      const partOf = (each: readonly FeatureChecks[]) =>
        each.flatMap((one) => (one[part] === undefined ? [] : [one[part]]));
      expect(partOf(CHECKS)).toEqual(partOf(FEATURES));
    },
  );
});
