import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { ClientScheduler } from '../../kernel/admission/client-scheduler.js';
import { Shares } from '../../kernel/admission/shares.js';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { ports } from './feature.js';

const ROW = { what: 'connections', total: 8, reserve: 0, floor: 1, atLimit: 'refused' } as const;

describe('the feature that relays ports', () => {
  it('leaves no source of published ports behind when it cannot record what it relays', async () => {
    const service = createServer();
    await once(service.listen(0, '127.0.0.1'), 'listening');
    const { port } = service.address() as AddressInfo;
    const shares = new Shares(ROW);
    const lines: string[] = [];
    const parts = {
      audit: { decided: () => Promise.reject(new Error('the disk is full')) },
      resources: { relayed: shares, relayedFlows: shares, relayedSockets: shares },
      pipe: { scheduler: new ClientScheduler() },
    };
    const one = new FeatureSwitch(ports, kernelOf(parts, lines));
    const containers = {
      address: `127.0.0.1:${port}`,
      hostUuid: 'h',
      environmentUuid: 'e',
      ports: true,
    };
    const asked = once(service, 'request');
    const beginning = one.begin({ ports: [], ownPorts: [], containers });
    await expect(beginning).rejects.toThrow('the disk is full');
    const [request] = (await asked) as [IncomingMessage];
    await one.close();
    lines.length = 0;
    // A source that is left would notice this, and log it.
    request.socket.resetAndDestroy();
    for (let turns = 0; turns < 3; turns += 1)
      await once(connect(port, '127.0.0.1').end().resume(), 'close');
    service.close();
    expect(lines).toEqual([]);
  });
});
