import { startProxy } from '@wins/net/testing';
import { createCertificateAuthority } from '@wins/base/testing';
import { startImageRegistry } from '../testing/agent/image-registry.js';
import { PlanNode } from '../testing/agent/plan-node.js';
import type { LogRecord } from '../testing/daemon.js';

const IMAGE = 'some/img:v1';
const hasEnded = ({ msg }: LogRecord) => msg === 'an instruction of a plan has ended';
const instructionOf = (image: string) => [{ name: 'of-the-image', image }];

describe('the image of a plan', () => {
  const issuing = createCertificateAuthority('issuing');
  const pair = issuing.issue('server', ['127.0.0.1', 'localhost', 'registry.invalid']);
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
});
