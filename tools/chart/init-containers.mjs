// node tools/chart/init-containers.mjs FOLDER_OF_RELEASES OUT.json
// Renders the chart for several releases and values, and writes the commands of its init containers to OUT.json, for a test.
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { render, wordsOf } from './engine.mjs';

const [folder, out] = process.argv.slice(2);

const pinned = (version) => {
  const bytes = readFileSync(path.join(folder, `${version}.exe`));
  return { helper: { sha256: createHash('sha256').update(bytes).digest('hex') } };
};
const releases = {
  'v1.1.0': commands(pinned('v1.1.0')),
  'v1.2.0': commands(pinned('v1.2.0')),
  // The chart judges keys and types, and leaves limits to the program.
  'wrong config': commands({ ...pinned('v1.2.0'), config: { tunnel: { maxSessions: 0 } } }),
  'wrong pin': commands({ helper: { sha256: '0'.repeat(64) } }),
};
mkdirSync(path.dirname(out), { recursive: true });
writeFileSync(out, JSON.stringify(releases));

/** Resolves a pod's mounts, config and commands as the kubelet does. */
function commands(values) {
  const { error, documents } = render({
    image: { repository: 'wins' },
    pause: { digest: `sha256:${'0'.repeat(64)}` },
    host: { prefixPath: "C:\\Program Files\\wins' $(chart) é2e", pipe: 'wins_chart_e2e' },
    upgrade: { waitTimeout: '90s' },
    config: { debug: false },
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
