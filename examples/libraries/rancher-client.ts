import {
  checkHealth,
  createDownload,
  establishTrust,
  newNodeId,
  RancherError,
  registerNode,
} from '@wins/rancher-client';
import { startRancher } from '@wins/rancher-client/testing';

// A double of Rancher, with its own certificate authority.
const rancher = await startRancher({ assets: { 'wins.exe': Buffer.from('MZ, and so on') } });
const { url: server, token } = rancher;

// Without a checksum, the server receives a hash of the token and must prove that it knows the token.
for (const wanted of [
  { server, token: 'of another server' },
  { server, token: 'of-another-server' },
  { server, token },
  { server, caChecksum: rancher.checksum },
]) {
  try {
    const { authority, certificates } = await establishTrust(wanted);
    console.log(authority, certificates[0]?.subject);
  } catch (error) {
    if (!(error instanceof RancherError)) throw error;
    console.log(error.code);
  }
}

// From here on, requests go only to the trusted server.
const trust = await establishTrust({ server, caChecksum: rancher.checksum });
await checkHealth(trust);
const node = { id: newNodeId(), isWorker: true, labels: 'cattle.io/os=windows' };
const { info } = await registerNode(trust, { node, token });
console.log(info.namespace, info.secretName);

// For a missing file, Rancher answers with a page and status 200.
const download = createDownload({ roots: trust.roots });
for (const file of ['wins.exe', 'other.exe']) {
  const wanted = { maxBytes: 1_000_000, magic: Buffer.from('MZ') };
  const done = await download(`${server}/assets/${file}`, wanted)
    .then(({ content }) => content.toString())
    .catch(({ code }: RancherError) => code);
  console.log(`${file}: ${done}`);
}
await rancher.close();
