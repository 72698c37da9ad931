import assert from 'node:assert/strict';
import os from 'node:os';
import { describe, it } from 'node:test';
import { formatNetwork } from '@wins/base';
import { networkAdapters } from './network-adapters.js';
import { addGatewayRoutes } from './gateway-routes.js';
import { systemRouteTable } from './routes.js';
import { callFirstVersion, enumerateNetworks } from './hns-calls.js';
import { windowsHostSystem } from './windows-host-system.js';
import { isWine } from '../testing/is-wine.js';
import { WindowsError } from '../windows-error.js';

const system = windowsHostSystem();
/** A documentation address, which no host has. */
const NOBODY = '203.0.113.77';

describe('the network of the host', () => {
  it('lists the adapters and addresses that Node lists', () => {
    const listed = networkAdapters().flatMap(({ name, addresses }) =>
      addresses.map((address) => `${name} ${formatNetwork(address)}`),
    );
    const expected = Object.entries(os.networkInterfaces()).flatMap(([name, addresses]) =>
      (addresses ?? []).map(({ cidr }) => `${name} ${cidr ?? ''}`),
    );
    assert.ok(expected.length > 0);
    assert.deepEqual(new Set(listed), new Set(expected));
  });

  // Wine's IP Helper has no call that changes routes through a MIB_IPFORWARD_ROW2.
  it('says what is missing for a change of routes', { skip: !isWine() }, async () => {
    await assert.rejects(system.addRoutes([NOBODY]), {
      code: 'unavailable',
      message: /iphlpapi\.dll: support for route changes is not installed/,
    });
  });

  it('does not believe a call that reports success and does nothing', () => {
    const lying = { ...systemRouteTable, add: () => true };
    assert.throws(() => addGatewayRoutes(lying, networkAdapters(), [NOBODY]), {
      code: 'notVerified',
      message: new RegExp(
        `cannot add routes to ${NOBODY.replaceAll('.', '\\.')}/32: .* not in the routing`,
      ),
    });
  });
});

describe('HNS', () => {
  /** Accepts only the expected error. On Wine, HNS itself is missing. On Windows with HNS, only the requested network is missing. */
  const isTold = (error: unknown) => {
    assert.ok(error instanceof WindowsError);
    if (!isWine()) return error.code === 'notFound';
    assert.equal(error.code, 'unavailable');
    assert.match(error.message, /Install the Windows feature Containers/);
    return true;
  };

  it('says that it is not installed', async () => {
    await assert.rejects(system.hnsNetwork({ name: 'no such network' }), isTold);
  });

  if (isWine()) {
    it('names the DLL of each version that is not there', async () => {
      await assert.rejects(enumerateNetworks(''), /computenetwork\.dll: .* is not installed/);
      await assert.rejects(callFirstVersion('GET', '/'), /vmcompute\.dll: .* is not installed/);
    });
  }
});
