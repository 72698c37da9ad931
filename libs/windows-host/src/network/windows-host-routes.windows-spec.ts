import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { describe, it } from 'node:test';
import { WindowsError } from '../windows-error.js';
import { windowsHostRoutes } from './windows-host-routes.js';

const routes = windowsHostRoutes();

/** Returns true if `error` says that the system cannot report changes of routes. Wine, for example, cannot. */
function isLacking(error: unknown): boolean {
  return error instanceof WindowsError && /not there|NOT_SUPPORTED/.test(error.message);
}

describe('the static routes of this Windows', () => {
  it('are those of IPv4, each of an interface that is listed or of none', async () => {
    const { interfaces, routes: rows } = await routes.list(false);
    const listed = Object.values(networkInterfaces()).flatMap((addresses = []) =>
      addresses.flatMap(({ family, cidr }) => (family === 'IPv4' ? (cidr ?? []) : [])),
    );
    const addresses = interfaces.flatMap((one) => one.addresses);
    assert.deepEqual(new Set(addresses), new Set(listed));
    for (const { destination, gateway, metric } of rows) {
      assert.match(destination, /^\d+(\.\d+){3}\/\d+$/);
      assert.match(gateway, /^(\d+(\.\d+){3})?$/);
      assert.ok(Number.isSafeInteger(metric));
    }
  });

  it('are not added to an interface that is gone, and that is said', async () => {
    const route = { destination: '203.0.113.77/32', gateway: '', interface: '{gone}', metric: 256 };
    const [outcome] = await routes.change([{ op: 'add', route }]);
    assert.equal(outcome?.kind, 'failed');
  });

  it('know this boot', () => {
    assert.ok(routes.isThisBoot(routes.bootMark()));
    assert.ok(!routes.isThisBoot('2020-01-01T00:00:00.000Z'));
  });

  it('are watched until the signal aborts, where the system tells of changes', async () => {
    const over = new AbortController();
    setImmediate(() => over.abort());
    try {
      await routes.watch(() => undefined, { signal: over.signal });
    } catch (error) {
      assert.ok(isLacking(error), String(error));
    }
    const before = AbortSignal.abort();
    await routes.watch(() => undefined, { signal: before });
  });
});
