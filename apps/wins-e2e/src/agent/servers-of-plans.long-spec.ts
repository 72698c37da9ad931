import { startProxy } from '@wins/net/testing';
import { startApiServer } from '@wins/system-agent/testing';
import { createCertificateAuthority } from '@wins/base/testing';
import { startImageRegistry } from '../testing/agent/image-registry.js';
import { PlanNode } from '../testing/agent/plan-node.js';
import type { LogRecord } from '../testing/daemon.js';

const IMAGE = 'some/img:v1';
const hasEnded = ({ msg }: LogRecord) => msg === 'an instruction of a plan has ended';
const instructionOf = (image: string) => [{ name: 'of-the-image', image }];

/** Returns a root, an intermediate authority, and a server certificate from the latter, without the chain. */
function chain() {
  const root = createCertificateAuthority('root');
  const issuing = createCertificateAuthority('issuing', root);
  const pair = issuing.issue('server', ['127.0.0.1', 'localhost', 'registry.invalid']);
  return { root, issuing, pair };
}

describe('the image of a plan', () => {
  const { issuing, pair } = chain();
  const user = { name: 'agent', password: 'canary-of-a-proxy' };

  it("comes through the daemon's proxy, unless NO_PROXY lists its registry", async () => {
    await using node = new PlanNode();
    await using registry = await startImageRegistry(pair);
    const hosts = { 'registry.invalid:443': registry.port };
    await using proxy = await startProxy({ user, hosts });
    Object.assign(node.workspace.variables, {
      HTTPS_PROXY: `http://${user.name}:${user.password}@${proxy.host}`,
      NO_PROXY: '10.0.0.0/8,exempt.invalid',
    });
    const tls = { ca_file: node.workspace.write('ca.pem', issuing.cert) };
    const registries = { configs: { 'registry.invalid': { tls } } };
    const agentRegistriesFile = node.workspace.write('r.yaml', JSON.stringify(registries));
    node.localPlan('a.plan', { instructions: instructionOf(`registry.invalid/${IMAGE}`) });
    const daemon = await node.start(node.config({ localEnabled: true, agentRegistriesFile }));
    expect(await daemon.logged(hasEnded)).toMatchObject({ exitCode: 0 });
    expect(new Set(proxy.requests.map(({ target }) => target))).toEqual(
      new Set(Object.keys(hosts)),
    );

    const asked = proxy.requests.length;
    node.localPlan('b.plan', { instructions: instructionOf(`exempt.invalid/${IMAGE}`) });
    await daemon.logged((record) =>
      JSON.stringify(record).includes('the name of exempt.invalid:443 cannot be resolved'),
    );
    expect(proxy.requests).toHaveLength(asked);
    expect(daemon.text).not.toContain(user.password);
  });

  it('comes from a registry that is busy at first', async () => {
    await using node = new PlanNode();
    await using registry = await startImageRegistry(pair);
    registry.faults.push((response) => response.writeHead(503).end('busy'));
    const host = `127.0.0.1:${registry.port}`;
    const registries = {
      mirrors: { [host]: { endpoint: [`https://${host}`] } },
      configs: { [host]: { tls: { ca_file: node.workspace.write('ca.pem', issuing.cert) } } },
    };
    const agentRegistriesFile = node.workspace.write('r.yaml', JSON.stringify(registries));
    node.localPlan('a.plan', { instructions: instructionOf(`${host}/${IMAGE}`) });
    const daemon = await node.start(node.config({ localEnabled: true, agentRegistriesFile }));
    expect(await daemon.logged(hasEnded)).toMatchObject({ exitCode: 0 });
    expect(daemon.text).toContain('found status 503');
  });
});

describe('one authority for the API server, an image and a probe', () => {
  const { root, issuing, pair } = chain();
  // Clients that trust only the root need the intermediate certificate, so servers send it along.
  const shown = { ...pair, cert: pair.cert + issuing.cert };

  it.each([
    ['the authority that has signed them', pair, issuing.cert, false],
    ['their certificate itself', pair, pair.cert, false],
    ['a root', shown, root.cert, false],
    ['a root of the system', shown, root.cert, true],
  ])('suffices if it is %s', async (_title, certificate, pem, isOfSystem) => {
    await using node = new PlanNode();
    await using registry = await startImageRegistry(certificate);
    const api = await startApiServer({ authority: { ...issuing, issue: () => certificate } });
    const file = node.workspace.write('ca.pem', pem);
    if (isOfSystem) node.workspace.variables['SSL_CERT_FILE'] = file;
    const host = `127.0.0.1:${registry.port}`;
    const tls = isOfSystem ? {} : { ca_file: file };
    const registries = {
      mirrors: { [host]: { endpoint: [`https://${host}`] } },
      configs: { [host]: { tls } },
    };
    const httpGet = { url: `https://${host}/healthz`, ...(!isOfSystem && { caCert: file }) };
    const plan = {
      instructions: instructionOf(`${host}/${IMAGE}`),
      probes: { component: { httpGet } },
    };
    api.create({ plan: JSON.stringify(plan) });
    const info = api.connectionInfo({ ca: isOfSystem ? null : pem });
    const daemon = await node.start(
      node.config({
        remoteEnabled: true,
        connectionInfoFile: node.workspace.write('info.json', info),
        agentRegistriesFile: node.workspace.write('r.yaml', JSON.stringify(registries)),
      }),
    );
    expect(await daemon.logged(hasEnded)).toMatchObject({ exitCode: 0 });
    await daemon.logged(({ msg }) => msg === 'a probe of a plan has become healthy');
    await node[Symbol.asyncDispose]();
    await api.close();
  });
});
