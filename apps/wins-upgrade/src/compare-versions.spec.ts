import { compareVersions } from './compare-versions.js';

describe('the order of releases', () => {
  it.each([
    ['v1.2.3', 'v1.2.3', 0],
    ['1.2.3', 'v1.2.3', 0],
    ['v1.2.3', 'v1.2.4', -1],
    ['v1.10.0', 'v1.9.9', 1],
    ['v2.0.0', 'v10.0.0', -1],
    ['v1.0.0-rc1', 'v1.0.0', -1],
    ['v1.0.0-rc.2', 'v1.0.0-rc.10', -1],
    ['v1.0.0-1', 'v1.0.0-rc', -1],
    ['v1.0.0-rc', 'v1.0.0-rc.1', -1],
    ['v1.0.0+build5', 'v1.0.0', 0],
  ])('puts %s and %s in their order', (left, right, order) => {
    expect(Math.sign(compareVersions(left, right) ?? Number.NaN)).toBe(order);
    expect(Math.sign(compareVersions(right, left) ?? Number.NaN)).toBe(order === 0 ? 0 : -order);
  });

  it.each(['dev', '', '1.2', 'v1.2.3.4', 'v1.2.3-', '1.2.3 ', `v${'9'.repeat(400)}.0.0`])(
    'does not know where %j belongs',
    (text) => {
      expect(compareVersions(text, 'v1.0.0')).toBeUndefined();
      expect(compareVersions('v1.0.0', text)).toBeUndefined();
    },
  );
});
