import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { ClientScheduler } from '../../kernel/admission/client-scheduler.js';
import { Shares } from '../../kernel/admission/shares.js';
import { FeatureSwitch } from '../../kernel/feature-switch.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { ports } from './feature.js';

const ROW = { what: 'connections', total: 8, reserve: 0, floor: 1, atLimit: 'refused' } as const;

function relaying(decided: () => Promise<void> | undefined, lines: string[] = []) {
  const shares = new Shares(ROW);
  const parts = {
    audit: { decided },
    resources: { relayed: shares, relayedFlows: shares, relayedSockets: shares },
    pipe: { scheduler: new ClientScheduler() },
  };
  return new FeatureSwitch(ports, kernelOf(parts, lines));
}

describe('the feature that relays ports', () => {
  it('opens them again when the config changes after they were torn down', async () => {
    const one = relaying(() => undefined);
    const port = {
      proto: 'tcp',
      listen: '127.0.0.1:8080',
      to: '192.0.2.9:80',
      allowReserved: false,
      allowHost: false,
    } as const;
    await one.begin({ ports: [port], ownPorts: [] });
    const running = one.require();
    await ports.changes?.make(running, 'remove', new AbortController().signal);
    expect(running.relays.standings).toMatchObject([{ state: 'down' }]);
    await one.begin({ ports: [{ ...port, to: '192.0.2.9:81' }], ownPorts: [] });
    const [relayed] = running.relays.standings;
    expect([relayed?.to, relayed?.state === 'down']).toEqual(['192.0.2.9:81', false]);
    await one.close();
  });

  it('leaves no source of published ports behind when it cannot record what it relays', async () => {
    const service = createServer();
    await once(service.listen(0, '127.0.0.1'), 'listening');
    const { port } = service.address() as AddressInfo;
    const lines: string[] = [];
    const one = relaying(() => Promise.reject(new Error('the disk is full')), lines);
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
