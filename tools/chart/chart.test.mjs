// This file is longer than most, because each value of the chart has a test, and all use the same few readers of what it renders.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { chartFolder, render, wordsOf } from './engine.mjs';
import { complaintsOfKubernetes } from './kubernetes-types.mjs';

const root = path.resolve(chartFolder, '../..');
const DIGEST = 'AB'.repeat(32);
const image = { repository: 'example/wins' };
const HELPER = 'cd'.repeat(32);
const PAUSE = `sha256:${'ef'.repeat(32)}`;
/** Values that have no default. */
const wanted = {
  image,
  helper: { sha256: HELPER },
  pause: { digest: PAUSE },
  config: { debug: false },
};
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Renders a release, which must succeed. */
function objects(values = {}, options = {}) {
  const { error, documents } = render({ ...wanted, ...values }, options);
  assert.equal(error, undefined);
  return documents.map(({ object }) => object);
}
const ofKind = (kind, all) => all.filter((object) => object.kind === kind);
const groupsNamed = (...names) => names.map((name) => ({ name, nodeSelector: { pool: name } }));
const container = (daemonSet, name) =>
  daemonSet.spec.template.spec.initContainers.find((candidate) => candidate.name === name);
const optionOf = (daemonSet, name, option) => {
  const words = wordsOf(container(daemonSet, name));
  const index = words.indexOf(option);
  return index < 0 ? undefined : words[index + 1];
};

function checkConfig(map, warnings = /^$/) {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-chart-'));
  try {
    const file = path.join(folder, 'config');
    writeFileSync(file, map.data.config);
    const target = ['--content-only', '--platform', 'windows'];
    const words = ['srv', 'config', 'check', ...target, '-o', 'json', '--config', file];
    const program = path.join(root, 'dist/wins.cjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words]);
    assert.equal(status, 0, stderr.toString());
    assert.match(stderr.toString(), warnings);
    const { values } = JSON.parse(stdout.toString());
    const listed = (list) =>
      values.filter(({ key }) => key.startsWith(`white_list.${list}[`)).map(({ value }) => value);
    const debug = values.find(({ key }) => key === 'debug').value;
    return { programs: listed('processPaths'), ports: listed('proxyPorts'), debug };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Asserts what Kubernetes requires of every object: valid fields, unique names, matching selectors, and more. */
function assertAcceptable(all) {
  assert.deepEqual(complaintsOfKubernetes(all), []);
  const names = all.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  assert.deepEqual([...new Set(names)], names);
  for (const { metadata } of all) {
    assert.match(metadata.name, DNS_LABEL);
    for (const value of Object.values(metadata.labels)) assert.match(value, LABEL_VALUE);
  }
  for (const { spec } of ofKind('DaemonSet', all)) {
    const { metadata, spec: pod } = spec.template;
    const { matchLabels } = spec.selector;
    for (const [key, value] of Object.entries(matchLabels)) {
      assert.match(value, LABEL_VALUE);
      assert.equal(metadata.labels[key], value);
    }
    const volumes = pod.volumes.map(({ name }) => name);
    const maps = ofKind('ConfigMap', all).map((map) => map.metadata.name);
    assert.ok(maps.includes(pod.volumes.find((volume) => volume.configMap).configMap.name));
    for (const { volumeMounts = [], name } of [...pod.initContainers, ...pod.containers]) {
      assert.match(name, DNS_LABEL);
      for (const mount of volumeMounts) assert.ok(volumes.includes(mount.name));
    }
  }
}

/** A program entry whose keys cover every type of value. */
const EVERY_KEY = {
  path: 'C:\\all.exe',
  argv0: 'listed',
  stopSignal: 'CTRL_BREAK',
  limits: { cpus: 0.5 },
  maxLimits: { memoryBytes: 2 ** 30, pids: 64 },
  detached: {
    allow: true,
    maxRuns: 2,
    spoolBytes: 2 ** 20,
    maxAgeHours: 1,
    restart: { allow: true, delayMs: 5, maxDelayMs: 10 },
  },
  files: { max: 2, maxBytes: 4096 },
};

describe('the chart', () => {
  it('renders what Kubernetes takes, and nothing that gives rights in the cluster', () => {
    const all = objects();
    assertAcceptable(all);
    assert.deepEqual(all.map(({ kind }) => kind).sort(), [
      'ConfigMap',
      'DaemonSet',
      'ServiceAccount',
    ]);
    const [account] = ofKind('ServiceAccount', all);
    const [{ spec }] = ofKind('DaemonSet', all);
    assert.equal(account.automountServiceAccountToken, false);
    assert.equal(spec.template.spec.automountServiceAccountToken, false);
    assert.deepEqual(spec.updateStrategy, {
      type: 'RollingUpdate',
      rollingUpdate: { maxUnavailable: 1 },
    });
    assert.equal(spec.template.spec.nodeSelector['kubernetes.io/os'], 'windows');
  });

  it('is judged by types that see a field that is not known, missing, or of another type', () => {
    const broken = (change) => {
      const all = objects();
      change(ofKind('DaemonSet', all)[0].spec);
      return complaintsOfKubernetes(all).join('\n');
    };
    assert.match(
      broken((spec) => (spec.template.spec.initContainer = [])),
      /initContainer/,
    );
    assert.match(
      broken((spec) => delete spec.selector),
      /selector/,
    );
    assert.match(
      broken((spec) => (spec.template.spec.nodeSelector.x = 1)),
      /number/,
    );
    assert.match(
      broken((spec) => (spec.template.spec.volumes[0].hostPat = {})),
      /hostPat/,
    );
    assert.match(complaintsOfKubernetes([{ apiVersion: 'v1', kind: 'Secret' }]).join(), /never/);
  });

  it('runs the program of the image and nothing else, as the Dockerfile places it', () => {
    const dockerfile = readFileSync(path.join(root, 'tools/package/image/Dockerfile'), 'utf8');
    const placed = /^COPY wins\.exe (\S+)$/m.exec(dockerfile)?.[1];
    const [{ spec }] = ofKind('DaemonSet', objects());
    for (const { command } of spec.template.spec.initContainers)
      assert.deepEqual(command, [placed]);
    assert.equal(optionOf({ spec }, 'deliver-helper', '--from'), placed);
    for (const { command, args } of spec.template.spec.containers)
      assert.deepEqual([command, args], [undefined, undefined]);
  });

  it('gives the words of each command as the client takes them', () => {
    const [daemonSet] = ofKind('DaemonSet', objects());
    const folder = 'C:\\etc\\rancher\\wins';
    assert.deepEqual(
      daemonSet.spec.template.spec.initContainers.map((each) => [
        each.name,
        wordsOf(each, 'UID').slice(1).join(' '),
      ]),
      [
        ['check-config', 'srv config check --content-only --config C:\\wins-config\\config'],
        [
          'deliver-config',
          `cli deliver --from C:\\wins-config\\config --to ${folder}\\wins.yaml --merge --base ${folder}\\config --settle 5s`,
        ],
        [
          'deliver-helper',
          `cli deliver --from C:\\wins\\wins.exe --to ${folder}\\wins-upgrade.exe --sha256 ${HELPER}`,
        ],
        [
          'upgrade',
          `cli upgrade --server rancher_wins --path ${folder}\\wins-upgrade.exe --from C:\\wins\\wins.exe ` +
            `--config ${folder}\\wins.yaml --once UID --wait-timeout 10m`,
        ],
      ],
    );
  });

  it('keeps the config of a node unless it has to replace it, and drops only named keys', () => {
    const words = (values) => {
      const [daemonSet] = ofKind('DaemonSet', objects(values));
      const [, , , , , , , ...options] = wordsOf(container(daemonSet, 'deliver-config'));
      return options.join(' ');
    };
    const base = '--base C:\\etc\\rancher\\wins\\config';
    assert.equal(words({}), `--merge ${base} --settle 5s`);
    assert.equal(words({ host: { configFile: 'config' } }), '--merge --settle 5s');
    const replaced = { debug: true, mode: 'replace', allowDrop: ['systemagent', 'csi-proxy'] };
    assert.equal(
      words({ config: replaced }),
      `${base} --allow-drop systemagent --allow-drop csi-proxy --settle 5s`,
    );
    // The groups differ in `mode`, which the rendered config does not contain.
    const nodeGroups = [
      { ...groupsNamed('a')[0], config: { mode: 'replace' } },
      ...groupsNamed('b'),
    ];
    const all = objects({ nodeGroups });
    const merges = ofKind('DaemonSet', all).map((each) =>
      wordsOf(container(each, 'deliver-config')).includes('--merge'),
    );
    assert.deepEqual(merges, [false, true]);
    for (const { data } of ofKind('ConfigMap', all))
      assert.deepEqual(Object.keys(JSON.parse(data.config)), ['debug', 'listen', 'white_list']);
  });

  it('has names of its own in the config that no key of the daemon has', () => {
    const program = path.join(root, 'dist/wins.cjs');
    const schema = execFileSync(process.execPath, [program, 'srv', 'config', 'schema']);
    const keys = Object.keys(JSON.parse(schema.toString()).properties);
    assert.ok(keys.includes('white_list'));
    for (const key of keys) assert.doesNotMatch(key, /^(mode|allow[-_]?drop)$/i);
  });

  for (const prefix of [
    'D:\\Program Files',
    "D:\\it's $(HOME) $(POD_UID) $$ & {{ .Values }} #1 - `x` ; 世界 “é” 😀",
    'd:/with/slashes/',
    'D:\\',
  ]) {
    it(`keeps each path one word, whatever is in it: ${prefix}`, () => {
      const all = objects({ host: { prefixPath: prefix, configFile: '{a b} $(x).yaml' } });
      assertAcceptable(all);
      const [daemonSet] = ofKind('DaemonSet', all);
      const folder = `${prefix.replaceAll('/', '\\').replace(/\\$/, '')}\\etc\\rancher\\wins`;
      const helper = `${folder}\\wins-upgrade.exe`;
      assert.equal(optionOf(daemonSet, 'deliver-config', '--to'), `${folder}\\{a b} $(x).yaml`);
      assert.equal(optionOf(daemonSet, 'deliver-helper', '--to'), helper);
      assert.equal(optionOf(daemonSet, 'upgrade', '--path'), helper);
      assert.equal(optionOf(daemonSet, 'upgrade', '--config'), `${folder}\\{a b} $(x).yaml`);
      const { volumes } = daemonSet.spec.template.spec;
      assert.equal(volumes.find(({ name }) => name === 'host').hostPath.path, folder);
      const mounts = container(daemonSet, 'upgrade').volumeMounts;
      assert.equal(mounts.find(({ name }) => name === 'host').mountPath, folder);
      const { programs } = checkConfig(ofKind('ConfigMap', all)[0]);
      assert.deepEqual(programs, [{ path: helper, sha256: [HELPER], mayBreakAway: true }]);
    });
  }

  it('has a pipe in the container under the name that it has on the host', () => {
    const [daemonSet] = ofKind('DaemonSet', objects({ host: { pipe: 'my_pipe' } }));
    const { volumes } = daemonSet.spec.template.spec;
    const pipe = '\\\\.\\pipe\\my_pipe';
    assert.equal(volumes.find(({ name }) => name === 'pipe').hostPath.path, pipe);
    const mounts = container(daemonSet, 'upgrade').volumeMounts;
    assert.equal(mounts.find(({ name }) => name === 'pipe').mountPath, pipe);
    assert.equal(optionOf(daemonSet, 'upgrade', '--server'), 'my_pipe');
  });

  it('writes a config that lets the helper run and outlive the daemon, with what the operator wants beside it', () => {
    const config = {
      debug: true,
      tunnel: { handshakeTimeoutMs: 600_000 },
      white_list: {
        processPaths: ['C:\\é “x”\\y.exe', { path: 'C:\\z.exe', sha256: DIGEST }, EVERY_KEY],
        proxyPorts: ['9796'],
      },
    };
    const [map] = ofKind('ConfigMap', objects({ config }));
    const values = checkConfig(map);
    assert.deepEqual(values, {
      programs: [
        {
          path: 'C:\\etc\\rancher\\wins\\wins-upgrade.exe',
          sha256: [HELPER],
          mayBreakAway: true,
        },
        { path: 'C:\\é “x”\\y.exe' },
        { path: 'C:\\z.exe', sha256: [DIGEST.toLowerCase()] },
        EVERY_KEY,
      ],
      ports: [9796],
      debug: true,
    });
  });

  it('pins the helper in the config and in what is delivered', () => {
    const all = objects({ helper: { sha256: DIGEST } });
    const [entry] = checkConfig(ofKind('ConfigMap', all)[0]).programs;
    assert.deepEqual(entry.sha256, [DIGEST.toLowerCase()]);
    const [daemonSet] = ofKind('DaemonSet', all);
    assert.equal(optionOf(daemonSet, 'deliver-helper', '--sha256'), DIGEST.toLowerCase());
  });

  it('gives each group of nodes a daemon set and a config of its own', () => {
    const nodeGroups = [
      { ...groupsNamed('blue')[0], config: { white_list: { proxyPorts: [9796] } } },
      {
        ...groupsNamed('green')[0],
        tolerations: [{ key: 'gpu', operator: 'Exists' }],
        updateStrategy: { type: 'OnDelete' },
      },
    ];
    const all = objects({ nodeGroups, config: { debug: true } });
    assertAcceptable(all);
    const daemonSets = ofKind('DaemonSet', all);
    assert.deepEqual(
      daemonSets.map(({ spec }) => spec.template.spec.nodeSelector.pool),
      ['blue', 'green'],
    );
    assert.deepEqual(
      daemonSets.map(({ spec }) => spec.updateStrategy.type),
      ['RollingUpdate', 'OnDelete'],
    );
    assert.equal(new Set(daemonSets.map(({ spec }) => JSON.stringify(spec.selector))).size, 2);
    const configs = ofKind('ConfigMap', all).map((map) => checkConfig(map));
    assert.deepEqual(
      configs.map(({ ports }) => ports),
      [[9796], []],
    );
    assert.deepEqual(
      configs.map(({ debug }) => debug),
      [true, true],
    );
    for (const { spec } of daemonSets) {
      const { configMap } = spec.template.spec.volumes.find((volume) => volume.configMap);
      assert.ok(configMap.name.endsWith(spec.template.spec.nodeSelector.pool));
    }
  });

  it('has names of 63 characters at most, which long releases do not share', () => {
    const named = (release) => objects({ nodeGroups: groupsNamed('a'.repeat(20)) }, { release });
    const [one, two] = ['x', 'y'].map((end) => named('r'.repeat(52) + end));
    assertAcceptable(one);
    const nameOf = (all) => ofKind('DaemonSet', all)[0].metadata.name;
    assert.equal(nameOf(one).length, 63);
    for (let length = 18; length < 24; length += 1) assertAcceptable(named('r'.repeat(length)));
    assert.notEqual(nameOf(one), nameOf(two));
    assert.equal(nameOf(named('rancher-wins-upgrader')), `rancher-wins-upgrader-${'a'.repeat(20)}`);
  });

  it('takes images from where it is told', () => {
    const images = (values) => {
      const [{ spec }] = ofKind('DaemonSet', objects(values));
      const { initContainers, containers } = spec.template.spec;
      return [...new Set([...initContainers, ...containers].map((each) => each.image))];
    };
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    const pause = `oss/kubernetes/pause@${PAUSE}`;
    assert.deepEqual(images({}), [`example/wins:v${version}`, `mcr.microsoft.com/${pause}`]);
    assert.deepEqual(images({ image: { ...image, registry: 'r.example:5000/', tag: 'x' } }), [
      'r.example:5000/example/wins:x',
      `mcr.microsoft.com/${pause}`,
    ]);
    const digest = `sha256:${DIGEST.toLowerCase()}`;
    assert.deepEqual(
      images({
        image: { ...image, registry: 'other', digest },
        global: { cattle: { systemDefaultRegistry: 'r.example/mirror' } },
      }),
      [`r.example/mirror/example/wins@${digest}`, `r.example/mirror/${pause}`],
    );
    for (const registry of ['[fd00::5]:5000', '[FD00::5]', '[::ffff:10.0.0.1]:443/mirror']) {
      const found = images({ global: { cattle: { systemDefaultRegistry: `${registry}/` } } });
      assert.deepEqual(found, [`${registry}/example/wins:v${version}`, `${registry}/${pause}`]);
    }
  });

  it('can be a dependency whose condition is its value "enabled"', () => {
    for (const enabled of [true, null]) assert.deepEqual(objects({ enabled }), objects());
  });

  it('renders nothing, and requires no value, where "enabled" is false', () => {
    for (const skipSchema of [false, true]) {
      const { error, documents = [], notes = '' } = render({ enabled: false }, { skipSchema });
      assert.deepEqual([error, documents, notes.trim()], [undefined, [], '']);
    }
  });

  it('gives objects and pods the labels and annotations of the values, and selects pods by its own', () => {
    const hostile = '"{{ .Values }}"\n  x: y # $(POD_UID) é';
    const all = objects({
      commonLabels: { 'example.com/team': 'true', cost: 'common' },
      podLabels: { cost: 'pod', empty: '' },
      podAnnotations: { 'prometheus.io/scrape': 'true', note: hostile },
      serviceAccount: { annotations: { 'example.com/role': hostile } },
    });
    assertAcceptable(all);
    for (const { metadata } of all) {
      assert.equal(metadata.labels['example.com/team'], 'true');
      assert.equal(metadata.labels.cost, 'common');
    }
    const [account] = ofKind('ServiceAccount', all);
    assert.deepEqual(account.metadata.annotations, { 'example.com/role': hostile });
    const [{ spec }] = ofKind('DaemonSet', all);
    const [plain] = ofKind('DaemonSet', objects());
    const own = plain.spec.template.metadata;
    assert.deepEqual(spec.selector, plain.spec.selector);
    assert.deepEqual(spec.template.metadata, {
      labels: { ...own.labels, 'example.com/team': 'true', cost: 'pod', empty: '' },
      annotations: { ...own.annotations, 'prometheus.io/scrape': 'true', note: hostile },
    });
  });

  it('gives the variables of extraEnv to each init container as data, and keeps its own', () => {
    const extraEnv = [
      { name: 'HTTPS_PROXY', value: 'http://proxy:3128 "$(POD_UID)"\n- name: x' },
      { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'proxy', key: 'token' } } },
    ];
    const plain = ofKind('DaemonSet', objects())[0];
    const all = objects({ extraEnv });
    assertAcceptable(all);
    const [daemonSet] = ofKind('DaemonSet', all);
    for (const { name, command, args, env } of daemonSet.spec.template.spec.initContainers) {
      const own = container(plain, name);
      assert.deepEqual([command, args], [own.command, own.args]);
      assert.deepEqual(env, [...(own.env ?? []), ...extraEnv]);
    }
    assert.equal(daemonSet.spec.template.spec.containers[0].env, undefined);
  });

  it('takes other names of its objects, which stay labels of DNS', () => {
    const namesOf = (values, options) => {
      const all = objects(values, options);
      assertAcceptable(all);
      const [{ metadata, spec }] = ofKind('DaemonSet', all);
      const [account] = ofKind('ServiceAccount', all);
      assert.equal(spec.template.spec.serviceAccountName, account.metadata.name);
      return [metadata.name, account.metadata.name, metadata.labels['app.kubernetes.io/name']];
    };
    const chart = 'rancher-wins-upgrader';
    assert.deepEqual(namesOf({}), [`wins-${chart}-windows`, `wins-${chart}`, chart]);
    assert.deepEqual(namesOf({ nameOverride: 'up' }), ['wins-up-windows', 'wins-up', 'up']);
    assert.deepEqual(namesOf({ nameOverride: 'wins' }), ['wins-windows', 'wins', 'wins']);
    assert.deepEqual(namesOf({ fullnameOverride: '123' }), ['123-windows', '123', chart]);
    const nodeGroups = groupsNamed('a'.repeat(20));
    const longest = { nodeGroups, fullnameOverride: 'f'.repeat(42), nameOverride: 'n'.repeat(63) };
    assert.deepEqual(namesOf(longest), [
      `${'f'.repeat(42)}-${'a'.repeat(20)}`,
      'f'.repeat(42),
      'n'.repeat(63),
    ]);
    const [name] = namesOf({ nodeGroups, nameOverride: 'n'.repeat(63) });
    assert.equal(name.length, 63);
    // A number in YAML unless it is quoted.
    assert.equal(namesOf({ fullnameOverride: '1e', nodeGroups: [{ name: '5' }] })[0], '1e-5');
  });

  it('places a group by the default nodeSelector and tolerations, unless the group has its own', () => {
    const placed = (values) => {
      const all = objects(values);
      assertAcceptable(all);
      return ofKind('DaemonSet', all).map(({ spec }) => {
        const { nodeSelector, tolerations } = spec.template.spec;
        return [nodeSelector, tolerations];
      });
    };
    const os = { 'kubernetes.io/os': 'windows' };
    const everything = [{ operator: 'Exists' }];
    assert.deepEqual(placed({ nodeGroups: [{ name: 'a' }] }), [[os, everything]]);
    const gpu = [{ key: 'gpu', operator: 'Exists', tolerationSeconds: 300, effect: 'NoExecute' }];
    const nodeGroups = [
      { name: 'a', nodeSelector: { pool: 'a' } },
      { name: 'b', nodeSelector: { zone: 'b' }, tolerations: [] },
      { name: 'c', tolerations: everything },
    ];
    const nodeSelector = { ...os, pool: 'all' };
    assert.deepEqual(placed({ nodeSelector, tolerations: gpu, nodeGroups }), [
      [{ ...os, pool: 'a' }, gpu],
      [{ ...os, pool: 'all', zone: 'b' }, undefined],
      [{ ...os, pool: 'all' }, everything],
    ]);
    for (const tolerations of [[], null])
      assert.deepEqual(placed({ tolerations }), [[os, undefined]]);
  });

  it('reads the digest of the helper with its algorithm before it', () => {
    for (const sha256 of [`sha256:${HELPER}`, `SHA256:${HELPER.toUpperCase()}`])
      assert.deepEqual(objects({ helper: { sha256 } }), objects());
  });

  it('reads names of image pull secrets with and without a key', () => {
    const [{ spec }] = ofKind(
      'DaemonSet',
      objects({ imagePullSecrets: ['a', { name: 'b' }, '1'] }),
    );
    assert.deepEqual(spec.template.spec.imagePullSecrets, [
      { name: 'a' },
      { name: 'b' },
      { name: '1' },
    ]);
  });

  it('takes a repository with the registry before it, by name or by IPv6 address', () => {
    const digest = `sha256:${DIGEST.toLowerCase()}`;
    for (const repository of [
      'registry.example:5000/rancher/wins',
      '[fd00::5]:5000/rancher/wins',
      '[fd00::5]/wins',
      'wins',
    ]) {
      const [{ spec }] = ofKind('DaemonSet', objects({ image: { repository, digest } }));
      assert.equal(spec.template.spec.initContainers[0].image, `${repository}@${digest}`);
    }
  });

  it('takes each spelling of a key and each form of a value that the daemon takes', () => {
    const config = {
      Debug: true,
      'csi-proxy': null,
      tlsConfig: { insecure: false },
      proxy: 12,
      processEnvironment: { HTTPS_PROXY: 'http://proxy:3128', COUNT: 3 },
      tunnel: { max_sessions: '12', maxStreams: 64 },
      hostNetwork: { nodes: true, probePort: '22' },
      keep: [{ path: 'C:\\x.exe' }],
      upgrade: { signedBy: DIGEST, mode: '' },
    };
    const [map] = ofKind('ConfigMap', objects({ config }));
    assert.equal(checkConfig(map, /Debug.*tlsConfig.*max_sessions/s).debug, true);
  });

  it('leaves limits to check-config, the first container', () => {
    objects({ config: { tunnel: { maxSessions: 0 }, keep: [{ surplus: 1 }] } });
  });

  it('takes the prefix that Rancher sets before its own, and passes on what pods need', () => {
    const [{ spec }] = ofKind(
      'DaemonSet',
      objects({
        global: { cattle: { rkeWindowsPathPrefix: 'e:\\' } },
        imagePullSecrets: [{ name: 'registry' }],
        priorityClassName: 'system-node-critical',
        serviceAccount: { create: false, name: 'mine' },
      }),
    );
    assert.equal(
      optionOf({ spec }, 'upgrade', '--path'),
      'e:\\etc\\rancher\\wins\\wins-upgrade.exe',
    );
    const pod = spec.template.spec;
    assert.deepEqual(
      [pod.imagePullSecrets, pod.priorityClassName, pod.serviceAccountName],
      [[{ name: 'registry' }], 'system-node-critical', 'mine'],
    );
  });

  it('makes new pods when config or image change, and only then', () => {
    const template = (values, options) =>
      JSON.stringify(ofKind('DaemonSet', objects(values, options))[0].spec.template);
    assert.equal(template({}), template({}));
    const digest = `sha256:${DIGEST.toLowerCase()}`;
    for (const changed of [
      { config: { debug: true } },
      { helper: { sha256: DIGEST } },
      { image: { ...image, digest } },
    ]) {
      assert.notEqual(template({}), template(changed));
    }
    // Labels of objects contain the version of the chart, but labels of pods do not.
    assert.doesNotMatch(template({ image: { ...image, tag: 'x' } }), /helm\.sh\/chart/);
  });

  it('has the release of the project', () => {
    const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
    const chart = readFileSync(path.join(chartFolder, 'Chart.yaml'), 'utf8');
    assert.match(chart, new RegExp(`^version: ${version}$`, 'm'));
    assert.match(chart, new RegExp(`^appVersion: ${version}$`, 'm'));
  });

  it('tells of every value in its README', () => {
    const readme = readFileSync(path.join(chartFolder, 'README.md'), 'utf8');
    const leaves = (value, prefix) =>
      typeof value === 'object' && !Array.isArray(value) && Object.keys(value).length > 0
        ? Object.entries(value).flatMap(([key, each]) => leaves(each, [...prefix, key]))
        : [prefix.join('.')];
    const { values } = render(wanted);
    const named = leaves(
      {
        ...values,
        nodeGroups: undefined,
        resources: undefined,
        pauseResources: undefined,
        // All other keys of this section belong to the daemon's config.
        config: { mode: '', allowDrop: [] },
      },
      [],
    );
    for (const name of [...named, 'nodeGroups', 'resources', 'pauseResources', 'config']) {
      assert.ok(readme.includes(`\`${name}\``), name);
    }
  });
});

describe('values that make no sense', () => {
  const group = (more) => ({ nodeGroups: [{ name: 'windows', ...more }] });
  const paths = (...processPaths) => ({ config: { white_list: { processPaths } } });
  for (const [what, values, message] of [
    ['no image', { image: { repository: '' } }, /image\.repository: required;/],
    ['no digest of the helper', { helper: { sha256: '' } }, /helper\.sha256: required;/],
    ['no digest of the pause image', { pause: { digest: '' } }, /pause\.digest: required;/],
    ['a tag of the pause image', { pause: { tag: '3.9', digest: PAUSE } }, /tag is not allowed/],
    ['an unknown value', { hosts: {} }, /hosts is not allowed/],
    ['an unknown value of a group', group({ selector: {} }), /selector is not allowed/],
    ['a condition that is no boolean', { enabled: 'yes' }, /enabled: Invalid type/],
    ...['[fd00::5', 'fd00::5', '[fd00::g]:5000', '[]:5000', '[fd00::5]5000'].map((registry) => [
      `the registry ${registry}`,
      { global: { cattle: { systemDefaultRegistry: registry } } },
      /systemDefaultRegistry/,
    ]),
    [
      'a registry with a scheme',
      { image: { ...image, registry: 'https://r.example' } },
      /image\.registry: found "https:\/\/r\.example"; wanted a host without https:\/\/, such as/,
    ],
    [
      'a repository with a tag',
      { image: { repository: 'r.example:5000/wins:v1.0.0' } },
      /image\.repository: found the tag v1\.0\.0 in it; set image\.tag: v1\.0\.0, and remove it here/,
    ],
    [
      'a repository with a tag that could be a port',
      { image: { repository: 'wins:5000' } },
      /image\.repository: found the tag 5000 in it/,
    ],
    [
      'a repository with a digest',
      { image: { repository: `[fd00::5]:5000/wins:x@${PAUSE}` } },
      /image\.repository: found the digest sha256:[ef]+ in it; set image\.digest/,
    ],
    [
      'a repository of the pause image with a tag',
      { pause: { repository: 'pause:3.9', digest: PAUSE } },
      /pause\.repository: found the tag 3\.9 in it; remove it and set pause\.digest/,
    ],
    [
      'two registries of an image',
      { image: { repository: '[fd00::5]:5000/wins', registry: 'r.example' } },
      /image\.repository: found the registry \[fd00::5\]:5000 in it; .* the registry is r\.example/,
    ],
    ...['Reg_Cred', {}, { name: 'a b' }, '', 'x'.repeat(254)].map((secret) => [
      `the image pull secret ${JSON.stringify(secret)}`,
      { imagePullSecrets: [secret] },
      /imagePullSecrets: found .*; wanted names of Secrets, such as regcred, or \{name: regcred\}/,
    ]),
    ...['nameOverride', 'fullnameOverride'].flatMap((name) =>
      ['a.b', '-a', 'a-', 'A', 'a b', 'a\nb', 'x'.repeat(64)].map((value) => [
        `the ${name} ${JSON.stringify(value)}`,
        { [name]: value },
        new RegExp(`${name}: found ".*"; wanted at most (?:42|63) lowercase letters`),
      ]),
    ),
    [
      'a prefix of names that leaves no room for a group',
      { fullnameOverride: 'x'.repeat(43) },
      /fullnameOverride: .*at most 42/,
    ],
    [
      'an annotation that is no text',
      { podAnnotations: { 'prometheus.io/scrape': true } },
      /podAnnotations: found true as the value of prometheus\.io\/scrape; wanted text, so write it in quotes/,
    ],
    [
      'an annotation of the account that is no text',
      { serviceAccount: { annotations: { x: 1 } } },
      /serviceAccount\.annotations: found 1 as the value of x/,
    ],
    [
      'annotations of an account that the chart does not create',
      { serviceAccount: { create: false, name: 'mine', annotations: { x: 'y' } } },
      /serviceAccount\.annotations: has no effect/,
    ],
    ...['commonLabels', 'podLabels'].flatMap((name) => [
      [`${name} with a blank`, { [name]: { x: 'a b' } }, new RegExp(`${name}: found "a b"`)],
      [`${name} with a number`, { [name]: { x: 1 } }, new RegExp(`${name}: found 1 .*in quotes`)],
      [`${name} of 64 characters`, { [name]: { x: 'y'.repeat(64) } }, new RegExp(`${name}: found`)],
      [`${name} with a key that is none`, { [name]: { 'a: b\n': '' } }, /found the key "a: b\\n"/],
      [
        `${name} that would select other pods`,
        { [name]: { 'app.kubernetes.io/instance': 'x' } },
        new RegExp(`${name}: remove app\\.kubernetes\\.io/instance, because the chart sets it`),
      ],
    ]),
    [
      'the label by which Helm finds its objects',
      { commonLabels: { 'app.kubernetes.io/managed-by': 'x' } },
      /commonLabels: remove app\.kubernetes\.io\/managed-by/,
    ],
    [
      'the annotation that replaces pods',
      { podAnnotations: { 'checksum/config': 'x' } },
      /podAnnotations: remove checksum\/config/,
    ],
    [
      'a variable that is no text',
      { extraEnv: [{ name: 'PORT', value: 3128 }] },
      /extraEnv: found a number as the value of PORT; wanted text, so write it in quotes/,
    ],
    [
      'a variable with two values',
      { extraEnv: [{ name: 'A', value: 'x', valueFrom: { fieldRef: {} } }] },
      /extraEnv: found both value and valueFrom of A/,
    ],
    [
      'a variable with a name that is none',
      { extraEnv: [{ name: 'A=B', value: 'x' }] },
      /extraEnv: found the name "A=B"/,
    ],
    ['a variable without a name', { extraEnv: [{ value: 'x' }] }, /extraEnv: found the name ""/],
    [
      'a variable of the chart itself, which Windows reads in any case',
      { extraEnv: [{ name: 'pod_uid', value: 'x' }] },
      /extraEnv: remove pod_uid, because the chart sets it/,
    ],
    [
      'a variable of another source',
      { extraEnv: [{ name: 'A', from: {} }] },
      /from is not allowed/,
    ],
    ['a default label that is a number', { nodeSelector: { x: 1 } }, /nodeSelector\.x/],
    [
      'default nodes that are not Windows',
      { nodeSelector: { 'kubernetes.io/os': 'linux' } },
      /Windows nodes only/,
    ],
    [
      'a key that the daemon does not have',
      { config: { debugg: true } },
      /config\.debugg: the daemon's config has no such key; its keys here are agentStrictTLSMode, audit, .*debug,/,
    ],
    [
      'a key that a section does not have',
      group({ config: { tunnel: { sessions: 1 } } }),
      /nodeGroups \(windows\)\.config\.tunnel\.sessions: .* its keys here are handshakeTimeoutMs, maxSessions, maxStreams/,
    ],
    [
      'a flag in quotes',
      { config: { debug: 'yes' } },
      /config\.debug: found "yes"; wanted true or false, without quotes/,
    ],
    [
      'a number as a flag',
      { config: { debug: 1 } },
      /config\.debug: found 1; wanted true or false/,
    ],
    [
      'a section as a flag',
      { config: { debug: {} } },
      /config\.debug: found a section; wanted one value/,
    ],
    [
      'text as a number',
      { config: { tunnel: { maxSessions: 'many' } } },
      /config\.tunnel\.maxSessions: found "many"; wanted a number/,
    ],
    [
      'text as a section',
      { config: { audit: 'x' } },
      /config\.audit: found text; wanted a section/,
    ],
    [
      'a section as a list',
      { config: { keep: {} } },
      /config\.keep: found a section; wanted a list/,
    ],
    [
      'a list as pairs, whose content is secret',
      { config: { processEnvironment: ['PASSWORD=x'] } },
      /config\.processEnvironment: found a list; wanted a section \(name: value pairs\)"?$/m,
    ],
    ['a value of another type', { imagePullSecrets: 'x' }, /imagePullSecrets: Invalid type/],
    ['an image that is a command', { image: { repository: 'a b' } }, /image\.repository/],
    ...['sha256:abc', DIGEST.toLowerCase(), `sha256:${'E'.repeat(64)}`].flatMap((digest) =>
      ['image', 'pause'].map((name) => [
        `the digest ${digest} of ${name}`,
        { [name]: { ...(name === 'image' ? image : {}), digest } },
        new RegExp(
          `${name}\\.digest: found ".*"; wanted sha256: and 64 lowercase hexadecimal digits`,
        ),
      ]),
    ),
    ...['v1/2', '-v1', 'v1@sha256:ab', 'x'.repeat(129)].map((tag) => [
      `the tag ${tag}`,
      { image: { ...image, tag } },
      /image\.tag: found ".*"; wanted at most 128 letters, digits, .* such as v1\.0\.0/,
    ]),
    ...['Not_A_Name', 'a-', 'x'.repeat(254)].flatMap((name) => [
      [
        `the priority class ${name}`,
        { priorityClassName: name },
        /priorityClassName: found ".*"; wanted at most 253 lowercase letters/,
      ],
      [
        `the service account ${name}`,
        { serviceAccount: { name } },
        /serviceAccount\.name: found ".*"; wanted at most 253 lowercase letters/,
      ],
    ]),
    ['a helper digest that is none', { helper: { sha256: 'abc' } }, /helper\.sha256/],
    ['a path of another system', { host: { prefixPath: '/opt' } }, /host\.prefixPath/],
    ['a share', { host: { prefixPath: '\\\\server\\share' } }, /host\.prefixPath/],
    ['a path upwards', { host: { prefixPath: 'C:\\a\\..\\b' } }, /host\.prefixPath/],
    ['a name with a dot at its end', { host: { prefixPath: 'C:\\a.' } }, /host\.prefixPath/],
    ['a quote in a path', { host: { prefixPath: 'C:\\a"b' } }, /host\.prefixPath/],
    ['a line break in a path', { host: { prefixPath: 'C:\\a\nb' } }, /host\.prefixPath/],
    ['a file in another folder', { host: { configFile: '..\\x' } }, /host\.configFile/],
    ['a stream of a file', { host: { helperFile: 'a:b.exe' } }, /host\.helperFile/],
    ['a helper that is no program', { host: { helperFile: 'helper.txt' } }, /host\.helperFile/],
    ['the daemon as helper', { host: { helperFile: 'Wins.exe' } }, /wins\.exe is reserved/],
    [
      'one name for two files',
      { host: { helperFile: 'a.exe', configFile: 'A.exe' } },
      /the same name/,
    ],
    ['a pipe of another host', { host: { pipe: '\\\\x\\pipe\\y' } }, /host\.pipe/],
    ['a time that is none', { upgrade: { waitTimeout: 'soon' } }, /upgrade\.waitTimeout/],
    ['no group', { nodeGroups: [] }, /nodeGroups/],
    ['a group without a name', { nodeGroups: [{}] }, /name is required/],
    ['a name that is no label', group({ name: 'A' }), /nodeGroups\.0\.name/],
    ['a name that is too long', group({ name: 'a'.repeat(21) }), /nodeGroups\.0\.name/],
    [
      'two groups of one name',
      { nodeGroups: [...groupsNamed('a'), { name: 'a' }] },
      /two groups have this name/,
    ],
    [
      'two groups of the same nodes',
      { nodeGroups: [{ name: 'a' }, { name: 'b' }] },
      /\(b\): chooses the same nodes as a/,
    ],
    [
      'nodes that are not Windows',
      group({ nodeSelector: { 'kubernetes.io/os': 'linux' } }),
      /Windows nodes only/,
    ],
    [
      'two pods on a node',
      group({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } }),
      /maxSurge/,
    ],
    ['a label that is a number', group({ nodeSelector: { x: 1 } }), /nodeSelector\.x/],
    [
      'an empty config',
      { config: {} },
      /config.*found no key of the daemon's config; wanted at least one/,
    ],
    [
      'a config of empty lists',
      { config: { white_list: { processPaths: [], proxyPorts: [] } } },
      /found no key of the daemon's config/,
    ],
    ['another mode', { config: { debug: true, mode: 'add' } }, /config\.mode/],
    [
      'a key to drop that is none',
      { config: { debug: true, mode: 'replace', allowDrop: ['x'] } },
      /allowDrop\.0/,
    ],
    [
      'a key to drop where nothing is dropped',
      { config: { debug: true, allowDrop: ['systemagent'] } },
      /config\.allowDrop of nodeGroups \(windows\): has no effect with config\.mode merge/,
    ],
    [
      'another spelling of the mode',
      { config: { debug: true, Mode: 'replace' } },
      /write mode and allowDrop/,
    ],
    ['another spelling of the whitelist', { config: { whiteList: {} } }, /write white_list/],
    [
      'that in a group',
      group({ config: { 'White-List': {} } }),
      /nodeGroups \(windows\)\.config\.White-List/,
    ],
    [
      'a misspelt list',
      { config: { white_list: { processPath: [] } } },
      /processPath is not allowed/,
    ],
    ['another pipe in the config', { config: { listen: 'x' } }, /host\.pipe/],
    ['a port that is none', { config: { white_list: { proxyPorts: [0] } } }, /proxyPorts\.0/],
    ['a text that is no port', { config: { white_list: { proxyPorts: ['x'] } } }, /proxyPorts\.0/],
    ['an unknown right', paths({ path: 'C:\\x', mayEverything: true }), /processPaths\.0/],
    ['the helper again', paths('c:/ETC/rancher/wins/wins-upgrade.exe'), /is the helper/],
    [
      'the helper again, with rights',
      paths({ path: 'C:\\etc\\rancher\\wins\\wins-upgrade.exe' }),
      /is the helper/,
    ],
    ['no account', { serviceAccount: { create: false } }, /serviceAccount\.name: required/],
  ]) {
    it(`are refused, and the message says where: ${what}`, () => {
      const { error, documents } = render(Object.assign({}, wanted, values));
      assert.equal(documents, undefined);
      assert.match(error, /** @type {RegExp} */ (message));
    });
  }

  for (const config of [
    {},
    null,
    { white_list: {} },
    { white_list: { proxyPorts: [] }, tunnel: {} },
  ]) {
    it(`an empty config is refused by the chart itself, too, where nobody asks the schema: ${JSON.stringify(config)}`, () => {
      const { error } = render({ ...wanted, config }, { skipSchema: true });
      assert.match(
        error,
        /config of nodeGroups \(windows\): found no key .*; wanted at least one, such as config\.white_list\.proxyPorts/,
      );
    });
  }

  it('a config is not empty that one group alone has', () => {
    const config = { debug: true };
    assert.equal(render({ ...wanted, config: {}, ...group({ config }) }).error, undefined);
  });

  for (const masquerade of [true, false, { enabled: true, as: 'c:\\x.exe' }, '']) {
    it(`a masquerade is refused by the schema, which says what is safe: ${JSON.stringify(masquerade)}`, () => {
      for (const values of [{ masquerade }, group({ masquerade })]) {
        assert.match(render({ ...wanted, ...values }).error, /masquerade.*refused.*helper\.sha256/);
      }
    });
    it(`and by the chart itself, where nobody asks the schema: ${JSON.stringify(masquerade)}`, () => {
      for (const values of [{ masquerade }, group({ masquerade })]) {
        const { error } = render({ ...wanted, ...values }, { skipSchema: true });
        assert.match(
          error,
          /masquerade: refused.*processPaths: \[\{path: C:\\etc\\.*sha256: DIGEST, mayBreakAway: true\}\]/,
        );
      }
    });
  }
});

describe('the engine', () => {
  it('is formatted as Go is', () => {
    const cwd = path.join(import.meta.dirname, 'engine');
    assert.equal(execFileSync('/usr/bin/gofmt', ['-l', '.'], { cwd }).toString(), '');
  });
});
