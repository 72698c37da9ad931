/**
 * Requirements for every `HostSystem`, for any test runner: `test.each(hostSystemContract(subject))('%s', async (_name, check) => check())`. The host
 * needs a default IPv4 route through a gateway.
 */
import type { HostSystem, RouteEntry } from '@wins/base';
import assert from 'node:assert/strict';
import { hostname, networkInterfaces } from 'node:os';
import { inspect } from 'node:util';
import type { HostSystemErrorCode } from '../../feature-error.js';

export interface HostSystemSubject {
  readonly system: HostSystem;
  /** True: the test may change the routing table. Wine does not support that. */
  readonly changesRoutes: boolean;
}

type Check = (system: HostSystem) => Promise<void>;

export function hostSystemContract({
  system,
  changesRoutes,
}: HostSystemSubject): readonly (readonly [name: string, check: () => Promise<void>])[] {
  const applicable = { ...READING, ...(changesRoutes ? CHANGING : {}) };
  return Object.entries(applicable).map(([name, check]) => [name, () => check(system)]);
}

/** `HOST` and `NETWORK` are addresses for documentation, which no host has. */
const HOST = '203.0.113.77';
const NETWORK = '198.51.100.0/24';
const METADATA = ['169.254.169.254', '169.254.169.253', '169.254.169.249'];

const READING: Readonly<Record<string, Check>> = {
  'says which release it is': async (system) => {
    const { currentMajorVersionNumber, currentBuildNumber } = await system.version();
    assert.match(`${currentMajorVersionNumber}.${currentBuildNumber}`, /^\d+\.\d+$/);
  },

  'finds the default adapter, and the same by its name and by its address': async (system) => {
    const found = await system.adapter();
    assert.equal(found.hostName, hostname());
    assert.match(found.interfaceIndex, /^[1-9]\d*$/);
    assert.match(found.gatewayAddress, /^[\d.]+$/);
    const address = found.addressCidr.replace('/32', '');
    const [name, own] = Object.entries(networkInterfaces())
      .flatMap(([of, all]) => (all ?? []).map((entry) => [of, entry] as const))
      .find(([, entry]) => entry.address === address) ?? ['', undefined];
    assert.equal(found.subnetCidr.split('/')[1], own?.cidr?.split('/')[1]);
    assert.deepEqual(await system.adapter({ name }), found);
    assert.deepEqual(await system.adapter({ address }), found);
  },

  'says that there is no such adapter or network': async (system) => {
    await fails(system.adapter({ name: 'no such adapter' }), ['notFound']);
    await fails(system.adapter({ address: HOST }), ['notFound']);
    await fails(system.adapter({ address: 'no address' }), ['invalidArgument']);
    await fails(system.hnsNetwork({ name: 'no such network' }), ['notFound', 'unavailable']);
  },

  'lists the default route, through the default adapter': async (system) => {
    const { gatewayAddress, interfaceIndex } = await system.adapter();
    const found = await routesTo(system, '0.0.0.0/0');
    const facts = found.map((route) => [route.gateway, String(route.interfaceIndex)]);
    assert.ok(facts.some((each) => each.join() === `${gatewayAddress},${interfaceIndex}`));
  },

  'refuses what no route leads to, before it changes anything': async (system) => {
    const before = await system.routes();
    for (const text of [
      'nonsense',
      '198.51.100.7/24',
      '2001:db8::1/64',
      '0.0.0.0/0',
      '::/0',
      '127.0.0.1',
      '169.254.169.0/24',
      'fe80::1',
      '224.0.0.1',
      'ff02::1',
    ]) {
      await fails(system.addRoutes([HOST, text]), ['invalidArgument']);
      await fails(system.removeRoutes([HOST, text]), ['invalidArgument']);
    }
    await fails(system.addRoutes(Array.from({ length: 257 }, () => HOST)), ['invalidArgument']);
    assert.deepEqual(await system.routes(), before);
  },
};

const CHANGING: Readonly<Record<string, Check>> = {
  'leads hosts and networks through the default gateway, once, and removes exactly these': async (
    system,
  ) => {
    const before = await system.routes();
    const { gatewayAddress, interfaceIndex } = await system.adapter();
    await system.addRoutes([HOST, `${HOST}/32`, NETWORK]);
    await system.addRoutes([HOST, NETWORK]);
    for (const destination of [`${HOST}/32`, NETWORK]) {
      const [route, ...others] = await routesTo(system, destination);
      assert.deepEqual(others, []);
      assert.deepEqual(
        [route?.gateway, String(route?.interfaceIndex)],
        [gatewayAddress, interfaceIndex],
      );
    }
    await system.removeRoutes([NETWORK]);
    assert.equal((await routesTo(system, `${HOST}/32`)).length, 1);
    await system.removeRoutes([HOST]);
    assert.deepEqual(await system.routes(), before);
  },

  'leads the metadata addresses of clouds through the default gateway, once': async (system) => {
    const before = await system.routes();
    const { gatewayAddress } = await system.adapter();
    await system.addRoutes(METADATA);
    await system.addRoutes(METADATA);
    for (const address of METADATA) {
      const found = await routesTo(system, `${address}/32`);
      assert.deepEqual(
        found.map(({ gateway }) => gateway),
        [gatewayAddress],
      );
    }
    await system.removeRoutes(METADATA);
    assert.deepEqual(await system.routes(), before);
  },

  'takes the removal of what is not there for done': async (system) => {
    const before = await system.routes();
    await system.removeRoutes([HOST, NETWORK]);
    assert.deepEqual(await system.routes(), before);
  },
};

async function routesTo(system: HostSystem, cidr: string): Promise<readonly RouteEntry[]> {
  return (await system.routes()).filter(({ destinationCidr }) => destinationCidr === cidr);
}

async function fails(
  action: Promise<unknown>,
  codes: readonly HostSystemErrorCode[],
): Promise<void> {
  await assert.rejects(action, (error: { readonly code?: HostSystemErrorCode }) => {
    assert.ok(error.code !== undefined && codes.includes(error.code), inspect(error));
    return true;
  });
}
