import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { askUdp, freeUdpPort, UdpProgram } from '../testing/tunnel/udp.js';
import { WindowsWorkspace } from './windows-workspace.js';

describe('datagrams on Windows', () => {
  const workspace = new WindowsWorkspace();
  after(() => workspace.remove());

  it('come back through a relayed port of the host, and through wins cli proxy --publish UDP:…', async () => {
    await using echo = await UdpProgram.start('host ');
    const [relayed, published] = [await freeUdpPort(), await freeUdpPort()];
    const relay = {
      proto: 'udp',
      listen: `127.0.0.1:${relayed}`,
      to: `127.0.0.1:${echo.port}`,
      allowHost: true,
    };
    const config = workspace.config([], [], {
      white_list: { proxyUdpPorts: [echo.port] },
      hostNetwork: { ports: [relay] },
    });
    const daemon = workspace.start('srv', 'app', 'run', '--config', config);
    await daemon.said('"state":"listening"');
    assert.equal(String(await askUdp(relayed, 'relayed')), 'host relayed');

    const client = workspace.client('proxy', '--publish', `UDP:${published}:${echo.port}`);
    await client.said('the tunnel is ready');
    const datagram = Buffer.alloc(1472, 'd');
    const answer = await askUdp(published, datagram);
    assert.ok(answer.equals(Buffer.concat([Buffer.from('host '), datagram])));
  });
});
