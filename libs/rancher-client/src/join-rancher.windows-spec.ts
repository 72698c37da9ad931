import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { afterEach, describe, it } from 'node:test';
import { resolveAddress } from './address/resolve-address.js';
import { createDownload } from './download/create-download.js';
import { checkHealth } from './register/check-health.js';
import { registerNode } from './register/register-node.js';
import {
  CANARY,
  closeServers,
  failureOf,
  proxy,
  rancher,
  settings,
} from './testing/server-harness.js';
import { establishTrust } from './trust/establish-trust.js';

const FILE = Buffer.concat([Buffer.from('MZ'), Buffer.alloc(100_000, 7)]);
const SHA256 = createHash('sha256').update(FILE).digest('hex');

describe('a Windows node that joins', () => {
  afterEach(closeServers);

  it('trusts, registers and downloads, through a proxy with a password', async () => {
    const server = await rancher({ names: ['rancher.invalid'], assets: { 'wins.exe': FILE } });
    const between = await proxy({
      hosts: { 'rancher.invalid:443': server.port },
      user: { name: 'user', password: 'password' },
    });
    const own = settings({ environment: { https_proxy: `http://user:password@${between.host}` } });
    const address = 'https://rancher.invalid';
    for (const known of [{ caChecksum: server.checksum }, {}]) {
      const trust = await establishTrust({ server: address, token: CANARY, ...known }, own);
      assert.equal(trust.authority, 'caChecksum' in known ? 'checksum' : 'proof');
      await checkHealth(trust, {}, own);
      const node = { id: 'a'.repeat(62), isWorker: true };
      const { text } = await registerNode(trust, { node, token: CANARY, strictTls: true }, own);
      assert.equal((JSON.parse(text) as { namespace: string }).namespace, 'fleet-default');
      const download = createDownload({ ...own, roots: trust.roots });
      const wanted = { maxBytes: 1_000_000, sha256: SHA256, magic: Buffer.from('MZ') };
      const { content } = await download(`${address}/assets/wins.exe`, wanted);
      assert.ok(content.equals(FILE));
    }
  });

  it('refuses a server that nothing vouches for, and one whose certificate is expired', async () => {
    const stranger = await rancher({ token: 'another' });
    const wanted = { server: stranger.url, token: CANARY };
    assert.equal((await failureOf(establishTrust(wanted, settings()))).code, 'untrusted');
    const old = await rancher({ certificate: 'expired' });
    const known = { server: old.url, caChecksum: old.checksum };
    assert.equal((await failureOf(establishTrust(known, settings()))).code, 'certificateExpired');
  });

  it('says which step failed', async () => {
    const wanted = { caChecksum: SHA256, timeoutMs: 0 };
    for (const [server, code] of [
      ['https://rancher.invalid', 'nameResolution'],
      ['https://127.0.0.1:1', 'unreachable'],
    ] as const)
      assert.equal((await failureOf(establishTrust({ server, ...wanted }, settings()))).code, code);
  });

  it('knows its adapters by their names, in capital or small letters', async () => {
    const [name = '', addresses = []] =
      Object.entries(networkInterfaces()).find(([, all]) =>
        all?.some(({ family }) => family === 'IPv4'),
      ) ?? [];
    const found = await resolveAddress(name.toUpperCase(), settings());
    assert.ok(addresses.some(({ address }) => address === found));
  });
});
