import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { dockerArchive, tarOf } from '../image-archive.js';
import type { RecordedVersion } from './recording.js';
import type { Deed } from './scenario-player.js';

/** One replay of a recording of the Go agent: what the test does, and where this agent deliberately differs. */
export interface Scenario {
  readonly deeds?: Readonly<Record<string, Deed>>;
  readonly before?: (folder: string) => void | Promise<void>;
  /** Reason for the differences below. */
  readonly difference?: string;
  /** Times of the Go agent's writes that this agent omits. */
  readonly notWritten?: readonly number[];
  /**
   * Writes that this agent makes later than recorded, as part of a later write: the recorded time of the write (key) and
   * of the later write (value).
   */
  readonly writtenLater?: Readonly<Record<number, number>>;
  /**
   * Version of the Secret that this agent writes in addition, after all recorded ones. It is not in the recording, because
   * the Go agent had not written it when the recording ended.
   */
  readonly alsoWritten?: RecordedVersion;
  /** Edits the JSON of the recorded versions. */
  readonly replaced?: (json: string) => string;
  /** Outputs that depend on the machine. */
  readonly notCompared?: readonly string[];
  /**
   * Times of the writes that this agent makes earlier or later than recorded: the recorded time (key) and this agent's
   * time (value).
   */
  readonly at?: Readonly<Record<number, number>>;
  readonly timesDiffer?: boolean;
  readonly filesDiffer?: boolean;
  readonly historyDiffers?: boolean;
}

const write =
  (...names: string[]): Deed =>
  (player, { content = player.recorded(names.join('/')) }) => {
    const file = path.join(player.folder, ...names);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  };
const remove =
  (...names: string[]): Deed =>
  ({ folder }) => {
    for (const name of names) rmSync(path.join(folder, name));
  };
const nothing: Deed = () => undefined;
const outage: Deed = ({ secrets }) => secrets.breakDown();
const recovery: Deed = ({ secrets }) => secrets.recover();

const LOCAL_DEEDS: Record<string, Deed> = {
  ...Object.fromEntries(
    [
      'a.plan',
      'b.plan',
      'c.plan',
      'c.skip',
      'c.plan.skip',
      '.hidden.plan',
      'sub/n.plan',
      'bad.plan',
    ]
      .concat('d.plan', 'd.plan.skip', 'e.plan', 'e.skip')
      .map((name) => [`write plans/${name}`, write('plans', name)]),
  ),
  'probe target 500': (player) => player.target.answer(500),
  'skip files removed': remove(
    'plans/c.skip',
    'plans/c.plan.skip',
    'plans/d.plan.skip',
    'plans/e.skip',
  ),
  'sub/n.pos removed': remove('plans/sub/n.pos'),
  'b.pos overwritten with garbage': ({ folder }) =>
    writeFileSync(path.join(folder, 'plans/b.pos'), 'garbage'),
};

const DRIFT: Deed = ({ folder }) => {
  chmodSync(path.join(folder, 'files/conf.d/a.txt'), 0o777);
  writeFileSync(path.join(folder, 'files/same.txt'), 'drift');
};
const FILES: Scenario = {
  before: (folder) => {
    mkdirSync(path.join(folder, 'files/old-dir'), { recursive: true });
    for (const [name, text] of [
      ['same.txt', 'same'],
      ['differs.txt', 'before'],
      ['old.txt', ''],
      ['old-dir/x', ''],
    ]) {
      writeFileSync(path.join(folder, 'files', name ?? ''), text ?? '');
    }
  },
  deeds: { 'recorder drifts files: chmod 777 conf.d/a.txt, same.txt content': DRIFT },
};

/** Two layers, the upper with a whiteout. */
const IMAGE = async (folder: string): Promise<void> => {
  const run =
    '#!/bin/sh\necho image run.sh "$@"; pwd; ls -lanR . | sed "s/ [A-Z][a-z][a-z] .* / T /"\n';
  const lower = await tarOf([
    { name: 'run.sh', mode: 0o755, content: run },
    { name: 'etc/data.txt', mode: 0o644, content: 'data1\n' },
    { name: 'etc/gone.txt', mode: 0o644, content: 'gone\n' },
    { name: 'bin/tool', mode: 0o700, content: '#!/bin/sh\necho tool in PATH\n' },
  ]);
  const upper = await tarOf([
    { name: 'etc/.wh.gone.txt' },
    { name: 'etc/data.txt', mode: 0o600, content: 'data2\n' },
    { name: 'etc/link', type: 'symlink', linkname: 'data.txt' },
    { name: 'Files/bin/win.ps1', mode: 0o644, content: 'win\n' },
  ]);
  mkdirSync(path.join(folder, 'images'));
  const archive = await dockerArchive('localtest/img:v1', [lower, upper]);
  writeFileSync(path.join(folder, 'images', 'img.tar'), archive);
};

const UNCHANGED: Scenario = {};

/** By the name of the recording. */
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'apidown-start': {
    difference: 'an API server that is away at the start is waited for',
    deeds: {
      'agent started, apiserver down': async (player) => {
        await player.secrets.breakDown();
        player.start();
      },
      'agent started, apiserver up': recovery,
    },
    at: { 13.697: 17.364 },
  },
  'apidown-graceful': {
    difference: 'the new plan is told when the next try to connect is due',
    at: { 91.987: 91.963 },
    deeds: {
      'down.sh apiserver (idle)': outage,
      'apiserver is down': nothing,
      'up.sh': nothing,
      'apiserver is up': recovery,
    },
  },
  apidown: {
    difference: 'the new plan is applied as soon as it is told; the original had no connection yet',
    deeds: {
      'down.sh apiserver (idle)': outage,
      'apiserver is down': nothing,
      'up.sh': nothing,
      'apiserver is up': recovery,
    },
    alsoWritten: {
      t: 73.676,
      by: 'agent',
      set: {
        'applied-checksum': '963c2a1ef3943ea132fa154fa28d9ff104f1bcd6192b216d556728276081d1cf',
        'applied-output': { gzipJson: { i: 'i\n', j: 'j after\n' } },
        'success-count': '2',
      },
    },
    filesDiffer: true,
  },
  'apidown-probe': {
    difference:
      'a status that changed during an outage is written when it is over; the process goes on',
    deeds: {
      'apiserver SIGKILL': outage,
      'apiserver is down, probe target 500': (player) => player.target.answer(500),
      'apiserver is up': recovery,
    },
    notWritten: [36.95, 36.963],
    // The result is written when its own try is due, which is at random.
    timesDiffer: true,
  },
  'big-line': {
    difference: 'a line above 64 KiB, and what follows it, is kept',
    replaced: (json) =>
      json.replace('{"x":null}', JSON.stringify({ x: `${'A'.repeat(70_000)}\nafter\n` })),
  },
  both: {
    deeds: {
      'secret created': write('plans/l.plan'),
      // The local plan comes first, as in the recording.
      'agent started': async (player) => {
        player.start();
        await player.settle();
        player.createSecret();
      },
    },
  },
  'cmd-background': UNCHANGED,
  'cmd-default': UNCHANGED,
  'cmd-missing': UNCHANGED,
  'cmd-noname': {
    difference: 'outputs are saved byte for byte',
    replaced: (json) => json.replace('"a\\nb', '"a\\r\\nb').replace('at end\\n', 'at end'),
  },
  'cmd-signal': UNCHANGED,
  'conflict-label': UNCHANGED,
  'conflict-label2': UNCHANGED,
  'conflict-plan': {
    difference: 'the new plan is applied as soon as the old one has ended; the process goes on',
    at: { 26.939: 5.055 },
  },
  'delete-during-apply': { difference: 'the process goes on' },
  env: {
    difference: 'outputs are saved byte for byte',
    replaced: (json) => json.replace('found in PATH\\n', 'found in PATH'),
    notCompared: ['plain', 'withenv', 'penv'],
  },
  'fail-max2': UNCHANGED,
  'fail-nomax': UNCHANGED,
  'garbage-array': UNCHANGED,
  'garbage-b64': UNCHANGED,
  'garbage-empty': UNCHANGED,
  'garbage-notjson': UNCHANGED,
  'garbage-null': UNCHANGED,
  'garbage-obj': UNCHANGED,
  'garbage-output': {
    difference: 'nothing of a plan is done before the outputs can be read',
    filesDiffer: true,
  },
  'garbage-periodic': {
    difference: 'nothing of a plan is done before the outputs can be read',
    filesDiffer: true,
  },
  'garbage-perm': UNCHANGED,
  'garbage-state': UNCHANGED,
  'garbage-trailing': UNCHANGED,
  'garbage-unknown': UNCHANGED,
  // The outputs contain folder listings, which depend on the disk. The test compares the files instead.
  image: { before: IMAGE, notCompared: ['img', 'img2'] },
  'image-missing': UNCHANGED,
  local: {
    difference: 'no plan of one second is lost from the history',
    deeds: LOCAL_DEEDS,
    historyDiffers: true,
  },
  'local-missing': { deeds: { 'directory and a.plan made': write('plans/a.plan') } },
  noplan: UNCHANGED,
  'periodic-fail': {
    deeds: { 'recorder creates the flag file (bad now succeeds)': write('flag') },
  },
  'periodic-ok': {
    difference: 'a periodic instruction has a folder of its own',
    replaced: (json) => json.replace(/_3(?=\\n)/g, '_periodic_3'),
  },
  probes: {
    deeds: {
      'server now answers 503': (player) => player.target.answer(503),
      'server answers 200 again': (player) => player.target.answer(200),
      'web server hits': nothing,
    },
    // In the Go agent, a pass lasted as long as its slowest probe, so the recorded writes have other times than those of this agent.
    timesDiffer: true,
  },
  'ps-conflict': UNCHANGED,
  'ps-crash': UNCHANGED,
  'ps-fail': {
    difference: 'a state that is terminal stays as it is',
    notWritten: [0.273, 45.425],
  },
  'ps-legacy': UNCHANGED,
  'ps-success': {
    difference:
      'a plan that was changed but is not pending does not count as applied before it ran',
    writtenLater: { 11.422: 19.424 },
  },
  restart: {
    deeds: { 'flag file: instruction now exits 1': write('flag'), 'flag removed': remove('flag') },
  },
  sigterm: UNCHANGED,
  'success-files': FILES,
  'success-preserve': FILES,
};
