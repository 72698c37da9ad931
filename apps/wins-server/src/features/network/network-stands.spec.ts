import type { HostNetworkStatus } from '@wins/host-network';
import type { Kernel } from '../../kernel/feature.js';
import type { NetworkSettings } from './network-settings.js';
import { networkStands } from './network-stands.js';

const WANTED: NetworkSettings = { routes: [], keep: ['gce'] };
const never = new Promise<never>(() => undefined);

function kernelOf(settings: NetworkSettings | undefined) {
  const status: { kind: HostNetworkStatus['kind'] } = { kind: 'starting' };
  const view: { settings: object | undefined; running: object | undefined } = {
    settings,
    running: undefined,
  };
  const kernel = { of: () => view } as unknown as Kernel;
  return { kernel, view, status };
}

describe('a start that waits for the network of the host', () => {
  it('does not wait where nothing is wanted', async () => {
    await networkStands(kernelOf(undefined).kernel, never);
    await networkStands(kernelOf({ routes: [], keep: [] }).kernel, never);
  });

  it('goes on once the network stands, and not before', async () => {
    const { kernel, view, status } = kernelOf(WANTED);
    let stands = false;
    const waiting = networkStands(kernel, never).then(() => (stands = true));
    view.running = { kept: { status } };
    status.kind = 'partial';
    await new Promise(setImmediate);
    expect(stands).toBe(false);
    status.kind = 'settled';
    expect(await waiting).toBe(true);
  });

  it('continues when it has waited long enough, or when the daemon has to end', async () => {
    await networkStands(kernelOf(WANTED).kernel, never, 1);
    await networkStands(kernelOf(WANTED).kernel, Promise.resolve());
  });
});
