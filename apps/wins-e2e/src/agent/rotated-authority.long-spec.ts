import { createCertificateAuthority } from '@wins/base/testing';
import { startProxy } from '@wins/net/testing';
import { startApiServer } from '@wins/system-agent/testing';
import { startImageRegistry } from '../testing/agent/image-registry.js';
import { PlanNode } from '../testing/agent/plan-node.js';
import type { LogRecord } from '../testing/daemon.js';
import { NodeWorld, startCluster } from '../testing/node/node-world.js';

const IMAGE = 'some/img:v1';
const hasEnded = ({ msg }: LogRecord) => msg === 'an instruction of a plan has ended';

/* An authority was rotated and kept its name. Nothing names its key, so OpenSSL picks one of them by its place in the bundle. */
const [earlier, now, later] = [
  createCertificateAuthority('rotated'),
  createCertificateAuthority('rotated'),
  createCertificateAuthority('rotated'),
] as const;
const pem = (...all: readonly { readonly cert: string }[]) => all.map(({ cert }) => cert).join('');
const bundles = [
  ['earlier and now', pem(earlier, now)],
  ['now and earlier', pem(now, earlier)],
  ['earlier, later and now', pem(earlier, later, now)],
] as const;

describe.each(bundles)('a bundle of authorities of one name: %s', (_title, bundle) => {
  const pair = now.issue('server', ['127.0.0.1', 'localhost', 'registry.invalid']);

  it.each([
    ['the kubeconfig, ca_file of a registry and caCert of a probe', false],
    ['the system', true],
  ])(
    'verifies the API server, a registry and a component, if it is that of %s',
    async (_, isOfSystem) => {
      await using node = new PlanNode();
      await using registry = await startImageRegistry(pair);
      const api = await startApiServer({ authority: now });
      const file = node.workspace.write('ca.pem', bundle);
      if (isOfSystem) node.workspace.variables['SSL_CERT_FILE'] = file;
      const host = `127.0.0.1:${registry.port}`;
      const registries = {
        mirrors: { [host]: { endpoint: [`https://${host}`] } },
        configs: { [host]: { tls: isOfSystem ? {} : { ca_file: file } } },
      };
      const httpGet = { url: `https://${host}/healthz`, ...(!isOfSystem && { caCert: file }) };
      api.create({
        plan: JSON.stringify({
          instructions: [{ name: 'of-the-image', image: `${host}/${IMAGE}` }],
          probes: { component: { httpGet } },
        }),
      });
      const info = api.connectionInfo({ ca: isOfSystem ? null : bundle });
      const config = node.config(
        {
          remoteEnabled: true,
          connectionInfoFile: node.workspace.write('info.json', info),
          agentRegistriesFile: node.workspace.write('r.yaml', JSON.stringify(registries)),
        },
        [],
        { agentStrictTLSMode: !isOfSystem },
      );
      const daemon = await node.start(config);
      expect(await daemon.logged(hasEnded)).toMatchObject({ exitCode: 0 });
      await daemon.logged(({ msg }) => msg === 'a probe of a plan has become healthy');
      const checked = await node.wins(
        'srv',
        'registry',
        'check',
        `${host}/${IMAGE}`,
        '--config',
        config,
      );
      expect([checked.code, checked.stderr]).toEqual([0, '']);
      const doctor = await node.wins('doctor', '--registries', '--config', config);
      expect(String(doctor.stdout)).toMatch(/^ok +agent +the API server answers/m);
      expect(String(doctor.stdout)).toMatch(/^ok +registries +https:\/\/127.*\/v2 answers/m);
      await node[Symbol.asyncDispose]();
      await api.close();
    },
  );

  it('verifies a registry behind a proxy', async () => {
    await using node = new PlanNode();
    await using registry = await startImageRegistry(pair);
    await using proxy = await startProxy({ hosts: { 'registry.invalid:443': registry.port } });
    node.workspace.variables['HTTPS_PROXY'] = `http://${proxy.host}`;
    const tls = { ca_file: node.workspace.write('ca.pem', bundle) };
    const registries = { configs: { 'registry.invalid': { tls } } };
    const agentRegistriesFile = node.workspace.write('r.yaml', JSON.stringify(registries));
    const config = node.config({ localEnabled: true, agentRegistriesFile });
    const words = ['srv', 'registry', 'check', `registry.invalid/${IMAGE}`, '--config', config];
    const checked = await node.wins(...words);
    expect([checked.code, checked.stderr]).toEqual([0, '']);
    expect(proxy.requests.length).toBeGreaterThan(0);
  });

  it('verifies Rancher and its API server, if /cacerts has it', async () => {
    await using cluster = await startCluster({ authority: now });
    await using world = new NodeWorld();
    const { rancher, api } = cluster;
    rancher.caCerts = bundle;
    rancher.connectionInfo = JSON.parse(api.connectionInfo({ ca: bundle })) as unknown;
    const variables = { ...cluster.variables, STRICT_VERIFY: 'true' };
    const said = await world.say(['join'], variables);
    expect([said.code, said.outcome]).toEqual([0, 'installed']);
    expect(world.text(world.authorities)).toBe(bundle);
    expect(api.requests.length).toBeGreaterThan(0);
  });
});

it('a server of an unknown authority is refused, although authorities of its name are trusted', async () => {
  await using node = new PlanNode();
  const api = await startApiServer({ authority: later });
  const info = api.connectionInfo({ ca: pem(earlier, now) });
  const connectionInfoFile = node.workspace.write('info.json', info);
  const config = node.config({ remoteEnabled: true, connectionInfoFile }, [], {
    agentStrictTLSMode: true,
  });
  const daemon = await node.start(config);
  const told = await daemon.logged((record) => record['state'] === 'disconnected');
  expect(JSON.stringify(told)).toContain('from an unknown authority (CERT_SIGNATURE_FAILURE)');
  expect(api.requests).toEqual([]);
  await node[Symbol.asyncDispose]();
  await api.close();
});
