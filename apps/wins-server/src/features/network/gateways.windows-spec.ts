import { formatNetwork, networkOf, parseNetwork } from '@wins/base';
import { plan } from '@wins/host-network';
import { windowsHostRoutes } from '@wins/windows-host';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

const DESTINATION = '203.0.113.0/24';
/** No network of a host contains this address. */
const UNKNOWN = '198.51.100.77';

async function planned(gateway: string, through?: string) {
  const named = through === undefined ? {} : { interface: through };
  const routes = [{ destination: DESTINATION, gateway, metric: 256, ...named }];
  const { steps, standings } = plan({ routes }, await windowsHostRoutes().list(false), []);
  return { step: steps[0], state: standings[0]?.state };
}

describe('the gateways of this Windows', () => {
  it('are reached by the interfaces in whose networks they are', async () => {
    const { interfaces, routes } = await windowsHostRoutes().list(false);
    const shared = interfaces.flatMap(({ id, addresses }) =>
      addresses.flatMap((text) => {
        const network = parseNetwork(text);
        if (network === undefined || network.prefix > 29) return [];
        const { bytes } = networkOf(network);
        // The second or the third address of the network: one of them is not this host.
        const host = [2, 3].find(
          (last) => bytes.with(3, (bytes[3] ?? 0) + last).join('.') !== network.bytes.join('.'),
        );
        return [
          {
            id,
            network: formatNetwork(networkOf(network)),
            gateway: bytes.with(3, (bytes[3] ?? 0) + (host ?? 2)).join('.'),
          },
        ];
      }),
    );
    for (const { id, network, gateway } of shared.filter(
      ({ gateway: at }) => !at.startsWith('127.'),
    )) {
      assert.ok(routes.some((route) => route.destination === network && route.gateway === ''));
      const { step } = await planned(gateway);
      assert.ok(step !== undefined && 'route' in step, `no route through ${gateway}`);
      assert.equal(step.route.interface, id);
    }
  });

  it('are awaited if no route leads to them, unless the route names an interface', async () => {
    assert.equal((await planned(UNKNOWN)).state, 'waiting');
    const { interfaces } = await windowsHostRoutes().list(false);
    const [first] = interfaces.filter(
      ({ addresses }) => !addresses.some((one) => one.startsWith('127.')),
    );
    if (first === undefined) return;
    const { step } = await planned(UNKNOWN, first.name);
    assert.ok(step !== undefined && 'route' in step);
    const { gateway, interface: through } = step.route;
    assert.deepEqual([gateway, through, step.assumesOnLink], [UNKNOWN, first.id, true]);
  });
});
