import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { posixFileTrust } from '@wins/trusted-files';
import { ImageLab, ociImage, tarOf } from '../testing/image-harness.js';
import { RegistryDouble } from '../testing/registry-harness.js';
import type { AgentError } from '../agent-error.js';
import { CredentialProviders } from './provider/credential-providers.js';
import { matchesImage } from './provider/provider-config.js';
import type { Login } from './registry/credentials.js';

const PROTOCOL = 'credentialprovider.kubelet.k8s.io/v1';
const NAME = 'test-provider';

let lab: ImageLab;
let nowMs: number;
beforeEach(() => {
  lab = new ImageLab();
  nowMs = 1_000_000;
  mkdirSync(folder());
});
afterEach(() => lab.remove());

const folder = () => join(lab.root, 'bin');
const configFile = () => join(lab.root, 'providers.yaml');
const program = () => join(folder(), NAME);
const asked = () =>
  existsSync(join(lab.root, 'asked')) ? readFileSync(join(lab.root, 'asked'), 'utf8') : '';

/** @param script - Commands that the provider runs after it has recorded its request. */
const provide = (script: string, settings: object = {}) =>
  provideAll({ [NAME]: script }, { [NAME]: settings });

/** @param scripts - By name of the provider, in the order of the configuration. */
function provideAll(
  scripts: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, object>> = {},
) {
  const all = Object.entries(scripts).map(([name, script]) => {
    const file = join(folder(), name);
    writeFileSync(file, `#!/bin/sh\ncat >> ${join(lab.root, 'asked')}\n${script}\n`);
    chmodSync(file, 0o755);
    const own = { name, matchImages: ['*.example'], defaultCacheDuration: '1h' };
    return { ...own, apiVersion: PROTOCOL, ...settings[name] };
  });
  const config = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig' };
  writeFileSync(configFile(), JSON.stringify({ ...config, providers: all }));
}

function answer(more: object = {}) {
  const auth = { 'a.example': { username: 'agent', password: 'canary' } };
  const kind = 'CredentialProviderResponse';
  return JSON.stringify({ apiVersion: PROTOCOL, kind, cacheKeyType: 'Registry', auth, ...more });
}
const say = (text: string) => `printf '%s' '${text}'`;

function providers(
  environment: Readonly<Record<string, string>> = { PATH: '/usr/bin:/bin' },
  limitMs?: number,
  onRun?: (run: object) => Promise<void>,
) {
  const clock = {
    // Goes back as time passes, because a clock that is set must not matter.
    now: () => new Date(-nowMs),
    monotonicMs: () => nowMs,
    wait: () => Promise.resolve(),
  };
  const paths = { configFile: configFile(), binDirectory: folder() };
  return new CredentialProviders({
    paths,
    trust: posixFileTrust(),
    environment,
    clock,
    limitMs,
    onRun,
  });
}

/** Returns the logins, and the messages of the providers that failed. */
async function ask(
  image = 'a.example/some/img',
  of = providers(),
  signal = new AbortController().signal,
) {
  const failures: AgentError[] = [];
  const logins: Login[] = [];
  for await (const login of of.find(image, signal, (failure) => failures.push(failure)))
    logins.push(login);
  return { logins, failures };
}
const find = async (image?: string, of?: CredentialProviders) => (await ask(image, of)).logins;

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Whether a process runs; false for a zombie. */
function runs(pid: string): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('a credential provider of the kubelet', () => {
  it('is asked by its protocol, and its login used', async () => {
    provide(say(answer()));
    expect(await find()).toEqual([
      {
        credentials: { username: 'agent', password: 'canary' },
        from: `the credential provider ${NAME}`,
      },
    ]);
    expect(JSON.parse(asked())).toEqual({
      apiVersion: PROTOCOL,
      kind: 'CredentialProviderRequest',
      image: 'a.example/some/img',
    });
  });

  it('is not run for an image that is not its own', async () => {
    provide(say(answer()));
    expect(await find('other.invalid/some/img')).toEqual([]);
    expect(asked()).toBe('');
  });

  it('knows none where its answer has none for the image', async () => {
    provide(say(answer({ auth: { 'b.example': { username: 'a', password: 'b' } } })));
    expect(await ask()).toEqual({ logins: [], failures: [] });
  });

  it('is none where there is no configuration', async () => {
    expect(await ask()).toEqual({ logins: [], failures: [] });
  });

  it.each([
    ['Image', ['a.example/x', 'a.example/x', 'a.example/y'], 2],
    ['Registry', ['a.example/x', 'a.example/y', 'b.example/x'], 2],
    ['Global', ['a.example/x', 'b.example/y'], 1],
  ])('is asked anew as its answer for each %s says', async (cacheKeyType, images, times) => {
    provide(say(answer({ cacheKeyType, cacheDuration: '5m' })));
    const own = providers();
    for (const image of images) await find(image, own);
    expect(asked().split('CredentialProviderRequest')).toHaveLength(times + 1);
  });

  it.each([
    [{ cacheDuration: '5m' }, 299_000, 1],
    [{ cacheDuration: '5m' }, 301_000, 2],
    [{}, 3_599_000, 1],
    [{}, 3_601_000, 2],
    [{ cacheDuration: '0s' }, 0, 2],
  ])('with %j is asked after %d ms %d times', async (more, laterMs, times) => {
    provide(say(answer(more)));
    const own = providers();
    await find(undefined, own);
    nowMs += laterMs;
    await find(undefined, own);
    expect(asked().split('CredentialProviderRequest')).toHaveLength(times + 1);
  });

  it('gets its arguments as words, its own variables, and only listed ones of ours', async () => {
    const env = [{ name: 'REGION', value: 'here; touch x' }];
    const args = ['$(touch x)', 'a b'];
    provide(`env > ${lab.root}/env; printf '%s|' "$@" > ${lab.root}/args\n${say(answer())}`, {
      env,
      args,
    });
    await find(undefined, providers({ PATH: '/usr/bin:/bin', HTTPS_PROXY: 'p', TOKEN: 'canary' }));
    expect(readFileSync(join(lab.root, 'args'), 'utf8')).toBe('$(touch x)|a b|');
    const seen = readFileSync(join(lab.root, 'env'), 'utf8');
    expect(seen).toMatch(/^REGION=here; touch x$/m);
    expect(seen).toMatch(/^HTTPS_PROXY=p$/m);
    expect(seen).not.toContain('canary');
  });

  it.each([
    ['ends with 3', 'echo "no role" >&2; exit 3', 'found the exit code 3 with "no role"'],
    ['writes too much', 'head -c 1100000 /dev/zero; sleep 1000', 'found more than 1048576 bytes'],
    ['writes no JSON', 'echo canary', 'found no JSON'],
    ['writes another kind', say(answer({ kind: 'Other' })), 'found JSON of another form'],
    ['speaks another version', say(answer({ apiVersion: 'v2' })), 'found JSON of another form'],
    [
      'says no key of its cache',
      say(answer({ cacheKeyType: undefined })),
      'found JSON of another form',
    ],
    ['writes nothing', 'true', 'found no JSON'],
    ['fails after its answer', `${say(answer())}; echo canary >&2; exit 1`, 'the exit code 1;'],
    ['repeats its variables', 'echo "$KEY" >&2; exit 1', 'the exit code 1 with "***"'],
    ['repeats a proxy', 'echo "$HTTPS_PROXY" >&2; exit 1', '***:***@proxy'],
    [
      'repeats a long variable',
      `${say('x')} >&2; printf '%0300d' 0 >&2; echo "$KEY" >&2; exit 1`,
      '000***',
    ],
  ])('that %s fails, and nothing of its answer is repeated', async (_title, script, found) => {
    provide(script, { env: [{ name: 'KEY', value: `canary${'-key'.repeat(100)}` }] });
    const environment = { PATH: '/usr/bin:/bin', HTTPS_PROXY: 'http://name:canary%21@proxy' };
    const { logins, failures } = await ask(undefined, providers(environment));
    expect([logins, failures]).toEqual([[], [expect.objectContaining({ code: 'imageFailed' })]]);
    expect(failures[0]?.message).toMatch(
      /^cannot (ask|read the answer of) the credential provider "[a-z-]+"/,
    );
    expect(failures[0]?.message).toContain(found);
    expect(inspect(failures, { depth: 9 })).not.toMatch(/canary|-key/);
  });

  describe('that started a program', () => {
    let pids: string;
    const environment = { PATH: '/usr/bin:/bin' };
    beforeEach(() => {
      pids = join(lab.root, 'pids');
      provide(`sleep 100000 & echo $$ $! > ${pids}.new; mv ${pids}.new ${pids}; wait`);
    });
    afterEach(async () => {
      for (const pid of readFileSync(pids, 'utf8').trim().split(' '))
        while (runs(pid)) await turn();
    });

    it('ends with it when the image is given up', async () => {
      const stop = new AbortController();
      const finding = ask('a.example/x', providers(environment), stop.signal);
      const failing = expect(finding).rejects.toThrow('told to stop');
      while (!existsSync(pids)) await turn();
      stop.abort(new Error('told to stop'));
      await failing;
    });

    it('has it ended also when it ended before', async () => {
      provide(`sleep 100000 & echo $$ $! > ${pids}.new; mv ${pids}.new ${pids}`);
      const stop = new AbortController();
      const finding = ask('a.example/x', providers(environment), stop.signal);
      const failing = expect(finding).rejects.toThrow('told to stop');
      while (!existsSync(pids)) await turn();
      const [own = ''] = readFileSync(pids, 'utf8').split(' ');
      while (existsSync(`/proc/${own}`)) await turn();
      stop.abort(new Error('told to stop'));
      await failing;
    });

    it('ends with it when its time is over', async () => {
      // On a busy host the time may be over before the provider has started the program.
      for (let limitMs = 100; !existsSync(pids); limitMs *= 2) {
        const { failures } = await ask('a.example/x', providers(environment, limitMs));
        expect(failures[0]?.message).toContain(`found no answer within ${limitMs} ms`);
      }
    });
  });

  it.each([
    ['has no file', () => undefined, { name: 'absent' }, '/bin/absent'],
    ['can be changed by others', () => chmodSync(program(), 0o777), {}, 'can write to it'],
    ['is in a folder of others', () => chmodSync(folder(), 0o777), {}, 'can write to it'],
  ])('that %s is not run, and fails', async (_title, change, settings, found) => {
    provide(say(answer()), settings);
    change();
    const { logins, failures } = await ask();
    expect([logins, failures]).toEqual([[], [expect.objectContaining({ code: 'imageFailed' })]]);
    expect(failures[0]?.message).toMatch(
      /^cannot ask the credential provider "(absent|test-provider)":/,
    );
    expect(failures[0]?.message).toContain(found);
    expect(asked()).toBe('');
  });

  it.each([
    [
      'has a number as a variable',
      () => undefined,
      { env: [{ name: 'A', value: 5 }] },
      'found no string in "providers.0.env.0.value" of it; wanted a string',
    ],
    [
      'has variables by name',
      () => undefined,
      { env: { A: 'canary' } },
      'found no array in "providers.0.env" of it; wanted an array',
    ],
    [
      'has a variable without a name',
      () => undefined,
      { env: [{ name: '', value: '' }] },
      'found no name of a variable in "providers.0.env.0.name" of it; wanted a name of a variable',
    ],
    [
      'has a number as an argument',
      () => undefined,
      { args: ['a', 1] },
      'found no string in "providers.0.args.1" of it; wanted a string',
    ],
    [
      'matches nothing',
      () => undefined,
      { matchImages: [] },
      'found an array that is too short in "providers.0.matchImages" of it; wanted a length of at least 1',
    ],
    [
      'has a number as a duration',
      () => undefined,
      { defaultCacheDuration: 0 },
      'found no string in "providers.0.defaultCacheDuration" of it; wanted a string',
    ],
    [
      'speaks an earlier protocol',
      () => undefined,
      { apiVersion: 'credentialprovider.kubelet.k8s.io/v1beta1' },
      `in "providers.0.apiVersion" of it; wanted "${PROTOCOL}"`,
    ],
    ['is another path', () => undefined, { name: '../test-provider' }, 'providers.0.name'],
    ['is a path', () => undefined, { name: '/bin/sh' }, 'providers.0.name'],
    ['is configured by others', () => chmodSync(configFile(), 0o666), {}, 'can write to it'],
    ['wants another protocol', () => undefined, { apiVersion: 'v1' }, 'providers.0.apiVersion'],
    [
      'wants what is not known',
      () => undefined,
      { tokenAttributes: {} },
      'the unsupported key "tokenAttributes" in "providers.0" of it; wanted supported keys only',
    ],
    [
      'has no time for its cache',
      () => undefined,
      { defaultCacheDuration: 'x' },
      'found no duration in "providers.0.defaultCacheDuration" of it; wanted a duration such as 12h',
    ],
  ])('that %s is not run', async (_title, change, settings, found) => {
    provide(say(answer()), settings);
    change();
    const error: unknown = await find().catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'imageFailed' });
    expect(String(error)).toContain(found);
    expect(String(error)).not.toContain('canary');
    expect(asked()).toBe('');
  });

  it('runs only after its run is recorded', async () => {
    provide(say(answer()));
    const environment = { PATH: '/usr/bin:/bin' };
    const runs: object[] = [];
    const record = async (run: object) => {
      await turn();
      runs.push({ ...run, asked: asked() });
    };
    await find('a.example/x', providers(environment, undefined, record));
    expect(runs).toEqual([{ name: NAME, file: program(), image: 'a.example/x', asked: '' }]);
    const refuse = () => Promise.reject(new Error('the disk is full'));
    const before = asked();
    await expect(find('a.example/y', providers(environment, undefined, refuse))).rejects.toThrow(
      'the disk is full',
    );
    expect(asked()).toBe(before);
  });

  it('is never searched for by its name alone', async () => {
    provide(say(answer()), { name: 'sh' });
    expect((await ask()).failures[0]?.message).toContain(join(folder(), 'sh'));
  });
});

it.each([
  ['a.example', 'a.example/x', true],
  ['*.example', 'a.example/x', true],
  ['*.example', 'a.b.example/x', false],
  ['a*.e?ample', 'abc.example/x', true],
  ['*.dkr.ecr.*.amazonaws.com', '1.dkr.ecr.eu-1.amazonaws.com/x', true],
  ['a.example', 'a.example:5000/x', false],
  ['a.example:5000', 'a.example:5000/x', true],
  ['a.example/some', 'a.example/some/img', true],
  ['a.example/other', 'a.example/some/img', false],
  ['https://a.example', 'a.example/x', true],
  ['a.example', 'aXexample/x', false],
  ['[::1]:5000', '[::1]:5000/x', true],
  ['127.0.0.1:*', '127.0.0.1:5000/x', false],
])('matchImages %s for %s: %s', (pattern, image, expected) => {
  expect(matchesImage(pattern, image)).toBe(expected);
});

describe('several credential providers that match', () => {
  const loginOf = (password: string, name = 'a.example') =>
    say(answer({ auth: { [name]: { username: 'agent', password } } }));

  it('all supply logins, in their order, and of one answer the more specific name first', async () => {
    const auth = {
      'a.example': { username: 'agent', password: 'first' },
      'a.example/some': { username: 'agent', password: 'zeroth' },
    };
    provideAll({
      one: say(answer({ auth })),
      two: loginOf('second'),
      three: loginOf('third', 'b'),
    });
    const { logins, failures } = await ask();
    expect(logins.map(({ credentials, from }) => [credentials.password, from])).toEqual([
      ['zeroth', 'the credential provider one'],
      ['first', 'the credential provider one'],
      ['second', 'the credential provider two'],
    ]);
    expect(failures).toEqual([]);
  });

  it('are not run once a login suffices', async () => {
    provideAll({ one: loginOf('first'), two: loginOf('second') });
    const finding = providers().find('a.example/x', new AbortController().signal, () => undefined);
    expect((await finding.next()).value?.credentials.password).toBe('first');
    expect(asked().split('CredentialProviderRequest')).toHaveLength(2);
    expect((await finding.next()).value?.credentials.password).toBe('second');
    expect(asked().split('CredentialProviderRequest')).toHaveLength(3);
  });

  it('supply a login although some of them fail', async () => {
    provideAll(
      {
        one: 'exit 1',
        two: 'echo canary',
        three: say(answer({ auth: null })),
        four: loginOf('good'),
      },
      { two: { matchImages: ['a.example'] } },
    );
    const { logins, failures } = await ask();
    expect(logins.map(({ credentials }) => credentials.password)).toEqual(['good']);
    expect(failures.map(({ message }) => message)).toEqual([
      'cannot ask the credential provider "one": found the exit code 1; wanted its answer',
      `cannot read the answer of the credential provider "two": found no JSON; wanted a CredentialProviderResponse of ${PROTOCOL}`,
    ]);
  });
});

describe('an image, and a registry with a login by credential providers', () => {
  let registry: RegistryDouble;
  beforeEach(async () => {
    registry = await RegistryDouble.start();
    const image = ociImage([await tarOf([{ name: 'run.sh', content: 'hello' }])]);
    registry.serve('some/img', 'v1', image);
  });
  afterEach(() => registry.close());

  const loginOf = (password: string) =>
    say(
      answer({ auth: { [registry.host]: { username: 'agent', password } }, cacheDuration: '1h' }),
    );
  const basicOf = (password: string) =>
    `Basic ${Buffer.from(`agent:${password}`).toString('base64')}`;
  const shown = () =>
    [...new Set(registry.requests.map(({ authorization }) => authorization ?? ''))].filter(Boolean);
  /** Runs the scripts, in this order, for the registry. */
  function unpackWith(scripts: Readonly<Record<string, string>>, docker?: string) {
    const settings = { matchImages: [registry.host] };
    provideAll(
      scripts,
      Object.fromEntries(Object.keys(scripts).map((name) => [name, settings] as const)),
    );
    const dockerConfigFile = join(lab.root, 'docker.json');
    const auths =
      docker === undefined ? {} : { [registry.host]: { username: 'agent', password: docker } };
    writeFileSync(dockerConfigFile, JSON.stringify({ auths }));
    const credentialProviders = { configFile: configFile(), binDirectory: folder() };
    const environment = { PATH: '/usr/bin:/bin' };
    return lab.unpack(`${registry.host}/some/img:v1`, {
      credentialProviders,
      environment,
      dockerConfigFile,
    });
  }
  /** Accepts only this password. @param refusal - Status for others. */
  function accept(password: string, refusal = 401, path = /./) {
    registry.gate = ({ headers, url = '' }, response) => {
      if (headers.authorization === basicOf(password) || !path.test(url)) return false;
      const status = headers.authorization === undefined ? 401 : refusal;
      response.writeHead(status, { 'www-authenticate': 'Basic realm="x"' }).end();
      return true;
    };
  }

  it.each([401, 403, 404])('that refuses a login with %d is shown the next one', async (status) => {
    accept('good', status);
    await unpackWith({ one: loginOf('bad'), two: loginOf('good'), three: loginOf('unused') });
    expect(shown()).toEqual([basicOf('bad'), basicOf('good')]);
    expect(lab.warnings).toEqual([]);
  });

  it("is shown the login of Docker's file last", async () => {
    accept('docker');
    await unpackWith({ one: loginOf('bad'), two: 'exit 7' }, 'docker');
    expect(shown()).toEqual([basicOf('bad'), basicOf('docker')]);
    expect(lab.warnings).toEqual([expect.stringContaining('"two": found the exit code 7')]);
  });

  it('gets a token for the next login when its token server refuses one', async () => {
    registry.gate = ({ headers, url = '' }, response) => {
      if (headers.authorization === 'Bearer abc') return false;
      if (!url.startsWith('/token')) {
        const challenge = `Bearer realm="${registry.url}/token",service="test"`;
        response.writeHead(401, { 'www-authenticate': challenge }).end();
      } else if (headers.authorization === basicOf('good')) response.end('{"token":"abc"}');
      else response.writeHead(403).end();
      return true;
    };
    await unpackWith({ one: loginOf('bad'), two: loginOf('good') });
    await expect(unpackWith({ one: loginOf('bad'), two: 'exit 3' })).rejects.toThrow(
      /found status 403; wanted 200; used the credential provider one; cannot ask the credential provider "two": found the exit code 3; wanted its answer$/,
    );
  });

  it('gives an anonymous token where every provider fails, and its refusal names them', async () => {
    let isOpen = true;
    registry.gate = ({ headers, url = '' }, response) => {
      if (headers.authorization === 'Bearer abc' && isOpen) return false;
      const challenge = `Bearer realm="${registry.url}/token",service="test"`;
      if (url.startsWith('/token')) response.end('{"token":"abc"}');
      else response.writeHead(401, { 'www-authenticate': challenge }).end();
      return true;
    };
    const scripts = { one: 'echo "no role" >&2; exit 1', two: 'true' };
    await unpackWith(scripts);
    const failures = [
      'cannot ask the credential provider "one": found the exit code 1 with "no role"; wanted its answer',
      `cannot read the answer of the credential provider "two": found no JSON; wanted a CredentialProviderResponse of ${PROTOCOL}`,
    ];
    expect(lab.warnings).toEqual(failures);
    isOpen = false;
    await expect(unpackWith(scripts)).rejects.toThrow(
      `found status 401; wanted 200; ${failures.join('; ')}`,
    );
  });

  it('is shown no other login for a blob that it lacks', async () => {
    accept('good');
    const blob = [...registry.content.keys()].filter((name) => name.includes('/blobs/')).at(-1);
    registry.content.delete(blob ?? '');
    const unpacking = unpackWith({ one: loginOf('good'), two: loginOf('unused') });
    await expect(unpacking).rejects.toThrow(
      'found status 404; wanted 200; used the credential provider one',
    );
    expect(shown()).toEqual([basicOf('good')]);
    expect(asked().split('CredentialProviderRequest')).toHaveLength(2);
  });
});

it('an image is fetched with the login of a provider, asked once the registry wants to know, and once for all layers', async () => {
  const registry = await RegistryDouble.start();
  registry.serve('some/img', 'v1', ociImage([await tarOf([{ name: 'run.sh', content: 'hello' }])]));
  const [host = ''] = registry.host.split('/');
  const auth = { [host]: { username: 'agent', password: 'canary' } };
  const basic = `Basic ${Buffer.from('agent:canary').toString('base64')}`;
  provide(say(answer({ auth, cacheDuration: '1h' })), { matchImages: [host] });
  const credentialProviders = { configFile: configFile(), binDirectory: folder() };
  const store = lab.store({ credentialProviders, environment: { PATH: '/usr/bin:/bin' } });
  const unpack = () =>
    store.unpack(`${registry.host}/some/img:v1`, lab.folder, {
      signal: new AbortController().signal,
    });
  await unpack();
  expect(asked()).toBe('');
  registry.gate = ({ headers }, response) => {
    if (headers.authorization === basic) return false;
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
    return true;
  };
  await unpack();
  await unpack();
  expect(asked().split('CredentialProviderRequest')).toHaveLength(2);
  await registry.close();
});
