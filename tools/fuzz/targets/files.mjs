// This file is longer than most, because it lists each kind of file that wins reads, with a valid example of each.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { changedJson, generateChanges } from '../changed-json.mjs';

const SHA256 = 'a'.repeat(64);
const DIGEST = `sha256:${SHA256}`;
const BLOB = { mediaType: 'x', digest: DIGEST, size: 3 };
const PLATFORM = { os: 'linux', architecture: 'amd64' };
const PROTOCOL = 'credentialprovider.kubelet.k8s.io/v1';
const PERIODIC = { name: 'p', stdout: 'eA==', stderr: null, exitCode: 0, failures: 1 };
const PROBES = { kubelet: { healthy: true, successCount: 1, failureCount: 0 } };
const YAML = [
  '&a [*a]',
  '*a',
  '<<: ',
  '---\n',
  '? ',
  '!!binary ',
  '|\n',
  ': ',
  '- ',
  '%YAML 1.1\n',
];
const STEP = { item: { kind: 'file', path: '/x' }, to: { sha256: SHA256, access: 'private' } };
const STEPS = [
  STEP,
  { item: { kind: 'folder', path: 'C:\\x', isData: true }, to: { access: 'private' } },
  { item: { kind: 'program', path: '/p' }, from: { sha256: SHA256 }, to: { sha256: SHA256 } },
  {
    item: { kind: 'service', name: 'w' },
    to: { command: '"a" b', startType: 'automatic' },
  },
  { item: { kind: 'variable', service: 'w', name: 'X' }, to: { sha256: SHA256 } },
  { item: { kind: 'certificate', sha256: SHA256 }, from: 'present' },
];

const base64 = (text) => Buffer.from(text).toString('base64');
const packed = (json) => gzipSync(JSON.stringify(json)).toString('base64');

/**
 * Tests functions that parse a node's files, a registry's answers, or a program's output. Each must return a valid value, or throw an error of its
 * library.
 */
export async function openFiles(faces) {
  const { AgentError, InstallError, InstallFiles, installPaths, joinedEnvironment } = faces;
  const root = mkdtempSync(path.join(tmpdir(), 'wins-fuzz-files-'));
  chmodSync(root, 0o700);
  const trust = faces.posixFileTrust();
  const inside = (name) => path.join(root, name);
  const file = inside('file');
  const written = (text) => {
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const forever = new AbortController().signal;

  const stateFolder = inside('state');
  mkdirSync(stateFolder, { mode: 0o700 });
  const install = new InstallFiles({ host: { trust, stores: {} }, paths: { stateFolder } });
  const paths = { ...installPaths('linux', {}), appliedFolder: root, nodeId: inside('id') };
  writeFileSync(paths.nodeId, SHA256, { mode: 0o600 });
  const upgrade = faces.upgradePaths(inside('wins'));
  mkdirSync(upgrade.folder, { recursive: true });
  const kept = new faces.KeptChanges(faces.posixPlanFiles(), inside('kept'));
  mkdirSync(inside('kept'), { mode: 0o700 });
  const answer = inside('answer');
  const program = inside('provider');
  writeFileSync(program, `#!/bin/sh\nexec cat '${answer}'\n`, { mode: 0o700 });
  const providerPaths = { configFile: inside('providers'), binDirectory: root };
  const PROVIDERS = {
    apiVersion: 'kubelet.config.k8s.io/v1',
    kind: 'CredentialProviderConfig',
    providers: [
      {
        name: 'provider',
        matchImages: ['*.example', 'h:5000/x'],
        apiVersion: PROTOCOL,
        defaultCacheDuration: '0s',
        args: ['a'],
        env: [{ name: 'N', value: 'v' }],
      },
    ],
  };
  const clock = { now: () => new Date(0), monotonicMs: () => 0, wait: () => Promise.resolve() };

  /** Readers by name: a document, the function that reads its text, the errors of its library, and a check of its result. */
  const readers = {
    installJournal: {
      document: { format: 1, isProved: false, steps: STEPS },
      read: async (text) => {
        const lines = '{"begin":0}\n{"undo":0}\n{"proven":true}\n';
        writeFileSync(path.join(stateFolder, 'journal.jsonl'), `${text}\n${lines}`);
        const record = await install.readJournal();
        faces.endOf(record);
        faces.begunSteps(record).forEach(faces.describeStep);
        return record;
      },
      isOurs: (error) => error instanceof InstallError,
      holds: ({ steps, lines }) =>
        steps.every(({ item }) => Object.hasOwn(faces.KINDS, item.kind)) && lines.length <= 3,
    },
    installManifest: {
      document: { format: 1, isAdopted: true, entries: STEPS },
      read: (text) => {
        writeFileSync(path.join(stateFolder, 'install-manifest.json'), text, { mode: 0o600 });
        return install.readManifest();
      },
      isOurs: (error) => error instanceof InstallError,
      holds: (manifest) => faces.mergeSteps(manifest, [STEP]).entries.length > 0,
    },
    joined: {
      document: { CATTLE_SERVER: 'https://x', CATTLE_LABELS: 'a=b', CATTLE_ROLE_WORKER: 'true' },
      read: (text) => {
        writeFileSync(inside('joined.json'), text, { mode: 0o600 });
        return joinedEnvironment(paths, { CATTLE_TOKEN: 'given' });
      },
      isOurs: (error) => error instanceof InstallError,
      holds: (environment) =>
        environment['CATTLE_TOKEN'] === 'given' &&
        Object.entries(environment).every(
          ([name, value]) => /^[A-Z_]+$/.test(name) && typeof value === 'string',
        ),
    },
    upgradeResult: {
      document: { format: 1, id: 'a', outcome: 'upgraded', reason: 'r', to: { sha256: SHA256 } },
      read: (text) => {
        writeFileSync(upgrade.result, text, { mode: 0o600 });
        return faces.latestResult(upgrade);
      },
      isOurs: () => false,
      holds: (result) =>
        result === undefined || [result.id, result.reason].every((one) => typeof one === 'string'),
    },
    registries: {
      document: {
        mirrors: {
          'h:5000': { endpoint: ['https://m/v2'], rewrite: { '^(.*)$': 'p/$1' } },
          '*': null,
        },
        configs: {
          'h:5000': {
            auth: { username: 'u', password: 'p', auth: base64('a:b'), identity_token: 't' },
            tls: { ca_file: '/ca', insecure_skip_verify: 'yes' },
          },
        },
      },
      texts: YAML,
      read: async (text) => {
        const { registries } = await faces.readRegistries([written(text)], trust);
        const reference = faces.parseReference('h:5000/a/b:v1');
        return (await faces.endpointsOf(reference, registries)).map(({ base }) => {
          faces.loginOfRegistries(base, registries);
          return base;
        });
      },
      isOurs: (error) => error instanceof AgentError,
      holds: (bases) => bases.every(({ protocol }) => /^https?:$/.test(protocol)),
    },
    dockerConfig: {
      document: { auths: { 'h:5000': { auth: base64('a:b'), identitytoken: 't' } } },
      read: async (text) => {
        const config = await faces.readDockerConfig(written(text), trust);
        faces.loginOfDocker(new URL('http://h:5000'), config);
        return config;
      },
      isOurs: (error) => error instanceof AgentError,
      holds: ({ auths = {} }) => typeof auths === 'object',
    },
    providers: {
      document: PROVIDERS,
      texts: YAML,
      read: (text) => {
        const paths = { ...providerPaths, configFile: written(text) };
        return faces.readProviders(paths, trust);
      },
      isOurs: (error) => error instanceof AgentError,
      holds: (all) => all.every((one) => path.dirname(one.file) === root),
    },
    providerAnswer: {
      document: {
        apiVersion: PROTOCOL,
        kind: 'CredentialProviderResponse',
        cacheKeyType: 'Image',
        cacheDuration: '1m',
        auth: { '*.example': { username: 'u', password: 'p' } },
      },
      // Each case starts a process.
      isRare: true,
      read: async (text) => {
        writeFileSync(answer, text);
        writeFileSync(providerPaths.configFile, JSON.stringify(PROVIDERS), { mode: 0o600 });
        const options = { paths: providerPaths, trust, environment: {}, clock };
        const providers = new faces.CredentialProviders(options);
        const fail = (failure) => {
          throw failure;
        };
        return (await providers.find('r.example/x', forever, fail).next()).value;
      },
      isOurs: (error) => error instanceof AgentError,
      holds: (login) => login === undefined || typeof login.credentials.password === 'string',
    },
    connectionInfo: {
      document: { kubeConfig: '{}', namespace: 'n', secretName: 's' },
      read: (text) => faces.parseConnectionInfo(text, '/x'),
      isOurs: (error) => error instanceof AgentError,
      holds: ({ namespace }) => typeof namespace === 'string',
    },
    position: {
      document: {
        appliedChecksum: SHA256,
        probeStatus: PROBES,
        output: packed({ a: 'eA==' }),
        periodicOutput: packed({ p: PERIODIC }),
      },
      values: [packed({ x: PERIODIC }), packed([]), packed('x'.repeat(1e6)), 'H4sI'],
      read: (text) => faces.parsePosition(text),
      isOurs: (error) => error instanceof AgentError,
      holds: (position) =>
        isDeepStrictEqual(faces.parsePosition(faces.positionText(position)), position),
    },
    keptChanges: {
      document: {
        uid: 'u',
        checksum: SHA256,
        planState: 's',
        values: { 'applied-checksum': base64('x'), 'failed-output': base64('y') },
      },
      read: (text) => {
        writeFileSync(inside('kept/unwritten.json'), text, { mode: 0o600 });
        return kept.load();
      },
      isOurs: ({ message }) => message.startsWith('cannot read unwritten.json'),
      holds: ({ values }) => Object.values(values).every((value) => Buffer.isBuffer(value)),
    },
    secret: {
      document: {
        kind: 'Secret',
        metadata: { name: 's', namespace: 'n', uid: 'u', resourceVersion: '1' },
        data: {
          plan: base64('{"files":[]}'),
          'failure-count': base64('1'),
          'applied-output': packed({ a: 'eA==' }),
          'probe-statuses': base64('{}'),
          'applied-periodic-output': packed({ p: PERIODIC }),
          'probe-period': base64('1.5'),
          'last-apply-time': base64('Mon Jan  2 15:04:05 UTC 2006'),
          'failed-output': '',
        },
      },
      values: [base64('-1'), base64('{"x":1}'), packed({ a: 1 }), packed(null)],
      read: (text) => {
        let object;
        try {
          object = JSON.parse(text);
        } catch {
          return undefined;
        }
        const { data } = faces.readSecret(object, { namespace: 'n', secretName: 's' });
        const state = faces.secretState(data);
        for (const use of [
          () => faces.savedOutputs(data, true),
          () => faces.savedOutputs(data, false),
          () => faces.savedPeriodic(data),
          () => faces.parsePlan(data['plan'] ?? Buffer.alloc(0)),
        ]) {
          try {
            use();
          } catch (error) {
            if (!(error instanceof AgentError)) throw error;
          }
        }
        return state;
      },
      isOurs: (error) => error instanceof AgentError,
      holds: (state) =>
        state === undefined ||
        (state.failureCount >= 0 &&
          state.probePeriodMs >= 1000 &&
          state.probePeriodMs <= 86_400_000),
    },
    plan: {
      document: {
        files: [{ path: '/a', content: 'eA==', permissions: '0644', action: 'delete' }],
        instructions: [{ name: 'i', image: 'x', command: 'c', args: ['a'], env: ['A=b'] }],
        periodicInstructions: [{ name: 'p', periodSeconds: 5, saveStderrOutput: true }],
        probes: { k: { httpGet: { url: 'https://x' }, initialDelaySeconds: 1 } },
      },
      read: (text) => faces.parsePlan(Buffer.from(text)),
      isOurs: (error) => error instanceof AgentError,
      holds: ({ plan, checksum }) =>
        /^[0-9a-f]{64}$/.test(checksum) && Array.isArray(plan.files ?? []),
    },
    manifest: {
      document: {
        config: BLOB,
        layers: [BLOB],
        schemaVersion: 2,
        manifests: [{ ...BLOB, platform: PLATFORM }],
      },
      read: (text) =>
        faces.findManifest(Buffer.from(text), { os: 'linux', arch: 'amd64' }, () =>
          Promise.resolve(Buffer.from(text)),
        ),
      isOurs: (error) => error instanceof AgentError,
      holds: ({ layers }) => layers.every(({ digest, size }) => digest.length === 71 && size >= 0),
    },
    imageConfig: {
      document: {
        os: 'linux',
        rootfs: { diff_ids: [DIGEST] },
        history: [{ created_by: 'x' }, { empty_layer: true }],
      },
      read: (text) => faces.parseImageConfig(Buffer.from(text)),
      isOurs: (error) => error instanceof AgentError,
      holds: ({ diffIds, madeBy }) =>
        [...diffIds, ...madeBy].every((one) => typeof one === 'string'),
    },
  };
  // A warning fails the case, because Node would write it to standard error, perhaps with a secret.
  /** @type {Error | undefined} */
  let warning;
  const onWarning = (told) => (warning = told);
  process.on('warning', onWarning);
  const kinds = Object.keys(readers);
  const often = kinds.filter((kind) => !readers[kind].isRare);
  return {
    name: 'files',
    generate: (rng) => {
      const kind = rng.pick(rng.chance(0.02) ? kinds : often);
      return { kind, steps: generateChanges(rng, readers[kind].document, readers[kind]) };
    },
    async run({ kind, steps }) {
      const { document, read, isOurs, holds } = readers[kind];
      warning = undefined;
      const text = changedJson(document, steps);
      const { value, error } = await new Promise((resolve) => resolve(read(text))).then(
        (found) => ({ value: found, error: undefined }),
        (failure) => ({ value: undefined, error: failure }),
      );
      await new Promise(setImmediate);
      if (warning !== undefined)
        throw new Error('Node wrote a warning to standard error', { cause: warning });
      if (error !== undefined) {
        if (!isOurs(error)) throw error;
        if (/[\p{Cc}\p{Zl}\p{Zp}\u202e]/u.test(error.message))
          throw new Error(`not to be shown: ${JSON.stringify(error.message)}`, { cause: error });
      } else if (!holds(value)) throw new Error(`taken for ${kind}: ${JSON.stringify(value)}`);
    },
    close: () => {
      process.off('warning', onWarning);
      rmSync(root, { recursive: true });
    },
  };
}
