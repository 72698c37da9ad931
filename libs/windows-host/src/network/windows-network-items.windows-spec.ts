import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatNetwork, type NetworkItem } from '@wins/base';
import { isWine } from '../testing/is-wine.js';
import { WindowsError } from '../windows-error.js';
import { filtersOf, itemsOfFilters } from './container-filters.js';
import { addAddress, isForwarding, removeAddress } from './interface-settings.js';
import { networkAdapters } from './network-adapters.js';
import { changeFilters, readFilters } from './packet-filters.js';
import { windowsHostRoutes } from './windows-host-routes.js';

/** A documentation address, which no host has, and an index that no interface has. */
const ADDRESS = { bytes: Uint8Array.of(203, 0, 113, 77), prefix: 32 };
const NO_INTERFACE = 0xffff_fff0;
const ITEM: NetworkItem = {
  ...({ kind: 'filter', key: 'wins-subnet ingress' } as const),
  value: '10.42.1.0/24 10.42.0.0/16',
};

/** Accepts only Wine's errors about missing calls. */
function unlessLacking(action: () => void): void {
  try {
    action();
  } catch (error) {
    assert.ok(isWine() && error instanceof WindowsError, String(error));
    assert.match(error.message, /is not installed|NOT_SUPPORTED|fwpuclnt|Fwpm/);
  }
}
const adapter = () => networkAdapters().find(({ isUp }) => isUp);

describe('the network of containers of this Windows', () => {
  it('has a forwarding setting for each interface, and none for one that is not there', () => {
    unlessLacking(() => {
      assert.equal(typeof isForwarding(adapter()?.index ?? 0), 'boolean');
      assert.equal(isForwarding(NO_INTERFACE), undefined);
    });
  });

  it('gets an address once, and loses it', () => {
    const { index = 0 } = adapter() ?? {};
    const own = () =>
      networkAdapters().flatMap((one) => one.addresses.map((address) => formatNetwork(address)));
    unlessLacking(() => {
      assert.equal(addAddress(index, ADDRESS), true);
      try {
        assert.equal(addAddress(index, ADDRESS), false);
        assert.ok(own().includes('203.0.113.77/32'));
      } finally {
        removeAddress(index, ADDRESS);
      }
      removeAddress(index, ADDRESS);
      assert.ok(!own().includes('203.0.113.77/32'));
    });
  });

  it('gets filters that are listed as they were made, and loses them', () => {
    const before = itemsOfFilters(readable(), () => undefined).length;
    unlessLacking(() => {
      const filters = filtersOf(ITEM, NO_INTERFACE) ?? [];
      changeFilters({ add: filters, remove: [] });
      const listed = itemsOfFilters(readFilters(), () => undefined);
      changeFilters({ add: [], remove: filters.map(({ key }) => key) });
      // Wine reports success and does nothing.
      if (!isWine()) assert.ok(listed.some((item) => item.value === ITEM.value));
      assert.equal(itemsOfFilters(readFilters(), () => undefined).length, before);
    });
  });

  it('has no items where HNS is not installed', { skip: !isWine() }, async () => {
    const host = windowsHostRoutes();
    assert.equal((await host.list(true)).items, undefined);
    const [outcome] = await host.change([
      { op: 'add', item: { kind: 'bridge', key: 'wins-subnet', value: '10.42.1.0/24 10.42.1.1' } },
    ]);
    assert.equal(outcome?.kind, 'failed');
  });
});

function readable(): ReturnType<typeof readFilters> {
  try {
    return readFilters();
  } catch (error) {
    assert.ok(isWine(), String(error));
    return [];
  }
}
