// Builds what chart.windows-spec.ts delivers, and renders the chart to the commands of its init containers, which the spec runs.
import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const cwd = path.resolve(import.meta.dirname, '../../../..');
// Computed, since a tool is no part of a project.
const engine = new URL('../../../../tools/chart/engine.mjs', import.meta.url);
const { runNpm } = await import(new URL('../../../../tools/windows/npm.mjs', import.meta.url));
const { missing, render, wordsOf } = await import(engine);
const folder = path.join(cwd, 'dist/chart');
const stdio = ['ignore', 'ignore', 'inherit'];
const run = (...command) => execFileSync(command[0], command.slice(1), { cwd, stdio });

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
if (missing === undefined) {
  runNpm(['run', '--silent', 'build'], { cwd, stdio });
  for (const version of ['v1.0.0', 'v1.1.0', 'v1.2.0']) {
    run(
      process.execPath,
      'tools/package/probe/make-release.mjs',
      `dist/chart/${version}.exe`,
      version,
    );
  }
  const pinned = (version) => {
    const bytes = readFileSync(path.join(folder, `${version}.exe`));
    return { helper: { sha256: createHash('sha256').update(bytes).digest('hex') } };
  };
  const releases = {
    'v1.1.0': commands(pinned('v1.1.0')),
    'v1.2.0': commands(pinned('v1.2.0')),
    'wrong config': commands({ ...pinned('v1.2.0'), config: { debg: true } }),
    'wrong pin': commands({ helper: { sha256: '0'.repeat(64) } }),
  };
  writeFileSync(path.join(folder, 'releases.json'), JSON.stringify(releases));
} else if (process.env.WINS_REQUIRE_WINDOWS === '1') {
  throw new Error(`the chart cannot be rendered without ${missing}`);
} else {
  console.log(`THE CHART'S COMMANDS ARE NOT RUN: that needs ${missing}`);
}

/** What the kubelet of a node does for a pod of the chart, but for the containers themselves. */
function commands(values) {
  const { error, documents } = render({
    image: { repository: 'wins' },
    pause: { digest: `sha256:${'0'.repeat(64)}` },
    host: { prefixPath: "C:\\Program Files\\wins' $(chart) é2e", pipe: 'wins_chart_e2e' },
    upgrade: { waitTimeout: '90s' },
    ...values,
  });
  if (error !== undefined) throw new Error(error);
  const ofKind = (kind) => documents.find(({ object }) => object.kind === kind).object;
  const { initContainers, volumes } = ofKind('DaemonSet').spec.template.spec;
  const hostOf = (name) => volumes.find((volume) => volume.name === name).hostPath.path;
  return {
    folder: hostOf('host'),
    pipe: hostOf('pipe'),
    config: ofKind('ConfigMap').data.config,
    containers: initContainers.map((container) => ({
      name: container.name,
      words: wordsOf(container, randomUUID()),
      mounts: Object.fromEntries(
        container.volumeMounts.map((mount) => [mount.name, mount.mountPath]),
      ),
    })),
  };
}
