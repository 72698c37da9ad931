import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { hostname, release } from 'node:os';
import { FeatureError, hostSystemErrorCode } from '../feature-error.js';
import { hostSystem } from './select-host-system.js';

const IP = '/sbin/ip';
const onLinux = process.platform === 'linux' ? describe : describe.skip;
if (process.platform !== 'linux') process.stderr.write('SKIPPED: the host calls of Linux\n');

const withIp = existsSync(IP) ? it : it.skip;
if (!existsSync(IP))
  process.stderr.write('SKIPPED: a comparison with iproute2, which is not installed\n');

onLinux('the host system of Linux', () => {
  const system = hostSystem('linux');

  it('says which kernel runs', async () => {
    const version = await system.version();
    expect(release()).toMatch(
      new RegExp(`^${version.currentMajorVersionNumber}\\.${version.currentMinorVersionNumber}\\b`),
    );
    expect(version.buildLabEx).toContain(release());
  });

  it('knows the loopback by name and by address', async () => {
    const byName = await system.adapter({ name: 'lo' });
    expect(byName).toMatchObject({
      interfaceIndex: '1',
      gatewayAddress: '',
      subnetCidr: '127.0.0.0/8',
      hostName: hostname(),
      addressCidr: '127.0.0.1/32',
    });
    await expect(system.adapter({ address: '127.0.0.1' })).resolves.toEqual(byName);
  });

  withIp('lists the same default gateways as the system’s own tool', async () => {
    const routes = await system.routes();
    const gateways = routes
      .filter(({ destinationCidr }) => destinationCidr === '0.0.0.0/0')
      .map(({ gateway }) => gateway);
    const said = execFileSync(IP, ['-4', 'route', 'show', 'default'], { encoding: 'utf8' });
    expect(gateways).toEqual([...said.matchAll(/via (\S+)/g)].map(([, gateway]) => gateway));
    for (const { interfaceIndex } of routes) expect(interfaceIndex).toBeGreaterThan(0);
  });

  it('has no HNS, and says so', async () => {
    await expect(system.hnsNetwork({ name: 'nat' })).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('the host system of a platform that nobody wrote one for', () => {
  it('fails every call as unavailable', async () => {
    const system = hostSystem('aix');
    for (const call of [
      system.version(),
      system.adapter(),
      system.routes(),
      system.addRoutes(['8.8.8.8']),
    ]) {
      await expect(call).rejects.toMatchObject({ code: 'unavailable' });
    }
  });
});

describe('the code of an error', () => {
  it.each([
    [new FeatureError('notFound', ''), 'notFound'],
    [Object.assign(new Error('of another library'), { code: 'accessDenied' }), 'accessDenied'],
    [Object.assign(new Error(), { code: 'ENOENT' }), undefined],
    [Object.assign(new Error(), { code: 'toString' }), undefined],
    [{ code: 'notFound' }, undefined],
    [new Error(), undefined],
  ])('of %o is %s', (error, code) => {
    expect(hostSystemErrorCode(error)).toBe(code);
  });
});
