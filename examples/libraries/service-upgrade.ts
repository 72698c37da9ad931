import { describePlan, planUpgrade } from '@wins/service-upgrade';

const digests = (digit: string) => ({ sha256: digit.repeat(64), sha1: digit.repeat(40) });
const plan = planUpgrade({
  platform: 'linux',
  arch: 'x64',
  target: '/opt/wins/wins',
  defaultConfig: '/etc/rancher/wins/config',
  service: {
    state: 'running',
    command: { imagePath: '/opt/wins/wins', args: ['srv', 'app', 'run'] },
  },
  isServing: true,
  installed: { ...digests('a'), version: 'v1.0.0' },
  offered: { ...digests('b'), version: 'v0.9.0' },
  request: { allowDowngrade: false },
});
console.log(describePlan(plan).trim());
