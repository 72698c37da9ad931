import { REGISTRY_SHAPES, REGISTRY_USER } from '@wins/system-agent/testing';
import { createCertificateAuthority } from '@wins/base/testing';
import { startImageRegistry, type ImageRegistry } from '../testing/agent/image-registry.js';
import { PlanNode } from '../testing/agent/plan-node.js';
import type { LogRecord } from '../testing/daemon.js';

const IMAGE = 'some/img:v1';
const PROTOCOL = 'credentialprovider.kubelet.k8s.io/v1';
const hasEnded = ({ msg }: LogRecord) => msg === 'an instruction of a plan has ended';
const authority = createCertificateAuthority('root');
const pair = authority.issue('server', ['127.0.0.1']);

/** Writes a plan whose image comes from a mirror, and the registries.yaml for the mirror; returns config keys of the agent. */
function nodeOf(node: PlanNode, registry: ImageRegistry, auth: object | undefined) {
  const tls = { ca_file: node.workspace.write('ca.pem', authority.cert) };
  const registries = {
    mirrors: { 'registry.invalid': { endpoint: [registry.url] } },
    configs: { '*': { tls, ...(auth && { auth }) } },
  };
  const file = node.workspace.write('r.yaml', JSON.stringify(registries));
  node.localPlan('a.plan', {
    instructions: [{ name: 'of-the-image', image: `registry.invalid/${IMAGE}` }],
  });
  return { localEnabled: true, agentRegistriesFile: file };
}

/** The script of a credential provider that knows {@link REGISTRY_USER}, by the given password. */
function knows(password = REGISTRY_USER.password): string {
  const answer = {
    apiVersion: PROTOCOL,
    kind: 'CredentialProviderResponse',
    cacheKeyType: 'Registry',
    auth: { HOST: { username: REGISTRY_USER.username, password } },
  };
  return [
    'request=$(cat)',
    `host=$(echo "$request" | sed 's/.*"image":"\\([^/]*\\).*/\\1/')`,
    `printf '%s' '${JSON.stringify(answer)}' | sed "s/HOST/$host/"`,
  ].join('\n');
}

/**
 * Writes credential providers for the registry; returns config keys of the agent. @param scripts - By name of the provider.
 * A provider without a script has no file.
 */
function providersFor(
  node: PlanNode,
  { port }: ImageRegistry,
  scripts: Readonly<Record<string, string | undefined>>,
) {
  const providers = Object.entries(scripts).map(([name, script]) => {
    if (script !== undefined) node.workspace.script(`bin/${name}`, script);
    const matchImages = [`127.0.0.1:${port}`];
    return { name, matchImages, defaultCacheDuration: '1h', apiVersion: PROTOCOL };
  });
  const kind = 'CredentialProviderConfig';
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind, providers };
  return {
    imageCredentialProviderConfig: node.workspace.write('providers', JSON.stringify(config)),
    imageCredentialProviderBinDirectory: node.workspace.path('bin'),
  };
}

describe.each(Object.entries(REGISTRY_SHAPES))(
  'an image of a plan, and a mirror like %s',
  (name, play) => {
    it('is fetched with the login that the check showed before', async () => {
      await using node = new PlanNode();
      await using registry = await startImageRegistry(pair);
      await using storage = await startImageRegistry(pair);
      play(registry, storage);
      const config = node.config(nodeOf(node, registry, REGISTRY_USER));
      const words = ['srv', 'registry', 'check', `registry.invalid/${IMAGE}`, '--config', config];
      const checked = await node.wins(...words, '-o', 'json');
      expect(JSON.parse(String(checked.stdout))).toMatchObject({
        found: true,
        registries: [
          {
            url: `${registry.url}/v2`,
            mirrorOf: 'registry.invalid',
            result: 'ok',
            login: 'configs.* of registries.yaml',
            isLoginShown: true,
          },
          { url: 'https://registry.invalid/v2', result: 'notAsked' },
        ],
      });
      const daemon = await node.start(config);
      expect(await daemon.logged(hasEnded)).toMatchObject({ exitCode: 0 });
      expect([daemon.text, String(checked.stdout), checked.stderr].join()).not.toContain('canary');
      expect(registry.requests[0]).toContain('?ns=registry.invalid');
      // Both the check and the plan fetch the config of the image, but only the plan fetches the layer.
      if (name === 'ECR') expect(storage.requests).toHaveLength(3);
    });
  },
);

it('an image of a plan is fetched with the login of a credential provider, which doctor and check name', async () => {
  await using node = new PlanNode();
  await using registry = await startImageRegistry(pair);
  REGISTRY_SHAPES['Harbor']?.(registry, registry);
  const agent = nodeOf(node, registry, undefined);
  const provider = providersFor(node, registry, { 'test-provider': knows() });
  const config = node.config({ ...agent, ...provider });
  const daemon = await node.start(config);
  expect(await daemon.logged(hasEnded)).toMatchObject({ exitCode: 0 });
  const audit = await node.wins('srv', 'audit', 'show', '-o', 'json');
  const runs = String(audit.stdout)
    .split('\n')
    .filter((line) => line.includes('"kind":"planCredentials"'));
  expect(runs.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      verdict: 'allowed',
      requester: 'plan',
      name: 'test-provider',
      path: node.workspace.path('bin/test-provider'),
      address: `127.0.0.1:${registry.port}/some/img`,
    }),
  ]);
  const words = ['srv', 'registry', 'check', `registry.invalid/${IMAGE}`, '--config', config];
  const checked = await node.wins(...words);
  expect([checked.code, String(checked.stdout)]).toEqual([
    0,
    expect.stringContaining('login: the credential provider test-provider\n'),
  ]);
  const doctor = await node.wins('doctor', '--registries', '--config', config);
  expect(String(doctor.stdout)).toMatch(
    /^ok +registries +https:\/\/127.*\/v2 answers \(mirrors\.registry\.invalid, .*test-provider\)$/m,
  );
  expect([daemon.text, String(checked.stdout), String(doctor.stdout)].join()).not.toContain(
    'canary',
  );
});

/** Credential providers that fail, and the message of each. */
const FAILING: Readonly<Record<string, readonly [script: string | undefined, message: RegExp]>> = {
  absent: [undefined, /cannot ask the credential provider "absent": .*bin\/absent/],
  failing: [
    'echo "no role" >&2; exit 1',
    /cannot ask the credential provider "failing": found the exit code 1 with "no role"/,
  ],
  talking: [
    'echo canary; echo canary >&2; exit 1',
    /cannot ask the credential provider "talking": found the exit code 1;/,
  ],
  silent: ['true', /cannot read the answer of the credential provider "silent": found no JSON/],
  vague: [
    `echo '{"auth":{"password":"canary"}}'`,
    /cannot read the answer of the credential provider "vague": found JSON of another form/,
  ],
};
const failing = Object.fromEntries(
  Object.entries(FAILING).map(([name, [script]]) => [name, script]),
);
const messages = Object.values(FAILING).map(([, message]) => message);

it('an image of a plan is fetched although credential providers fail or have a wrong login, and each failure is reported', async () => {
  await using node = new PlanNode();
  await using registry = await startImageRegistry(pair);
  REGISTRY_SHAPES['Harbor']?.(registry, registry);
  const scripts = { ...failing, wrong: knows('canary-wrong'), right: knows() };
  const agent = { ...nodeOf(node, registry, undefined), ...providersFor(node, registry, scripts) };
  const config = node.config(agent);
  const daemon = await node.start(config);
  expect(await daemon.logged(hasEnded)).toMatchObject({ exitCode: 0 });
  const words = ['srv', 'registry', 'check', `registry.invalid/${IMAGE}`, '--config', config];
  const checked = await node.wins(...words);
  expect([checked.code, String(checked.stdout)]).toEqual([
    0,
    expect.stringContaining('login: the credential provider right\n'),
  ]);
  const doctor = await node.wins('doctor', '--registries', '--config', config);
  expect(doctor.code).toBe(1);
  expect(String(doctor.stdout)).toMatch(/^ok +registries +https:.*credential provider right\)$/m);
  for (const message of messages) {
    const isTold = ({ msg }: LogRecord) => message.test(msg);
    expect(await daemon.logged(isTold)).toMatchObject({ level: 'warn' });
    expect(checked.stderr).toMatch(message);
    expect(String(doctor.stdout)).toMatch(
      new RegExp(`^warning +registries +${message.source}`, 'm'),
    );
  }
  expect(String(doctor.stdout)).toMatch(/→ check .*r\.yaml and .*providers$/m);
  const said = [daemon.text, checked.stdout, checked.stderr, doctor.stdout].map(String);
  expect(said.join()).not.toContain('canary');
});

it('a registry that refuses an image, because no credential provider has a login, names the providers', async () => {
  await using node = new PlanNode();
  await using registry = await startImageRegistry(pair);
  REGISTRY_SHAPES['Harbor']?.(registry, registry);
  const agent = { ...nodeOf(node, registry, undefined), ...providersFor(node, registry, failing) };
  const config = node.config(agent);
  const words = ['srv', 'registry', 'check', `registry.invalid/${IMAGE}`, '--config', config];
  const checked = await node.wins(...words, '-o', 'json');
  const { registries } = JSON.parse(String(checked.stdout)) as {
    registries: readonly { readonly failure: string }[];
  };
  expect(checked.code).toBe(1);
  const doctor = await node.wins('doctor', '--registries', '--config', config);
  const daemon = await node.start(config);
  const causeOf = ({ err }: LogRecord) =>
    String((err as { message?: string } | undefined)?.message);
  const record = await daemon.logged((one) => causeOf(one).includes('cannot fetch an image'));
  for (const message of messages) {
    expect(registries[0]?.failure).toMatch(message);
    expect(String(doctor.stdout)).toMatch(
      new RegExp(`^problem +registries .*${message.source}`, 'm'),
    );
    expect(causeOf(record)).toMatch(message);
  }
  const said = [daemon.text, checked.stdout, checked.stderr, doctor.stdout].map(String);
  expect(said.join()).not.toContain('canary');
});

it('a number as a variable of a credential provider is refused as what it is', async () => {
  await using node = new PlanNode();
  await using registry = await startImageRegistry(pair);
  REGISTRY_SHAPES['Harbor']?.(registry, registry);
  const agent = { ...nodeOf(node, registry, undefined), ...providersFor(node, registry, {}) };
  const provider = {
    name: 'a',
    matchImages: ['*'],
    defaultCacheDuration: '1h',
    apiVersion: PROTOCOL,
  };
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig' };
  const providers = [{ ...provider, env: [{ name: 'A', value: 5 }] }];
  node.workspace.write('providers', JSON.stringify({ ...config, providers }));
  const words = ['srv', 'registry', 'check', `registry.invalid/${IMAGE}`];
  const checked = await node.wins(...words, '--config', node.config(agent));
  expect(checked.code).toBe(1);
  expect(String(checked.stdout)).toContain(
    'found no string in "providers.0.env.0.value" of it; wanted a string\n',
  );
});

it('check and doctor report a failing registry with the reason, before the agent is on', async () => {
  await using node = new PlanNode();
  await using registry = await startImageRegistry(pair);
  REGISTRY_SHAPES['Nexus']?.(registry, registry);
  const wrong = { username: 'agent', password: 'canary' };
  const agent = nodeOf(node, registry, wrong);
  const config = node.config({ ...agent, localEnabled: false });
  const words = ['srv', 'registry', 'check', `registry.invalid/${IMAGE}`, '--config', config];
  const { code, stdout } = await node.wins(...words);
  expect([code, String(stdout)]).toEqual([
    1,
    expect.stringMatching(
      /^registry\.invalid\/some\/img:v1: not found\nregistries: .*r\.yaml\n1\. https:.*: failed\n {3}by mirrors\.registry\.invalid\n {3}trust: .*ca\.pem\n {3}login: configs\.\* .*\n {3}cannot get .*found status 404.*\n2\. /,
    ),
  ]);
  const doctor = await node.wins('doctor', '--registries', '--config', config);
  expect(String(doctor.stdout)).toMatch(/^ok +registries +not needed: /m);
  const on = node.config({ ...agent, localEnabled: true });
  const again = await node.wins('doctor', '--registries', '--config', on);
  expect(again.code).toBe(2);
  expect(String(again.stdout)).toMatch(/^problem +registries +cannot get .*found status 401/m);
  expect([String(stdout), String(again.stdout)].join()).not.toContain('canary');
});
