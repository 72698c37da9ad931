// Checks the manifests of examples/kubernetes against the types of Kubernetes. Each mount needs a volume with the same path, because a
// pipe has the same name in the container and on the host. The labels must match each selector.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { complaintsOfKubernetes } from './chart/kubernetes-types.mjs';

const root = path.resolve(import.meta.dirname, '..');
const folder = path.join(root, 'examples/kubernetes');
// The daemon's version of yaml; the root of the workspace has another one.
const { parseAllDocuments } = createRequire(path.join(root, 'libs/net/package.json'))('yaml');
const objects = readdirSync(folder)
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) => parseAllDocuments(readFileSync(path.join(folder, file), 'utf8')))
  .map((document) => document.toJS());
assert.ok(objects.length > 0, 'no manifest was found');
assert.deepEqual(complaintsOfKubernetes(objects), []);

for (const { kind, metadata, spec } of objects) {
  const template = kind === 'Pod' ? { metadata, spec } : spec?.template;
  if (template?.spec?.containers === undefined) continue;
  for (const [label, value] of Object.entries(spec.selector?.matchLabels ?? {}))
    assert.equal(template.metadata.labels[label], value, `${metadata.name}: ${label}`);
  const folders = new Map(template.spec.volumes.map(({ name, hostPath }) => [name, hostPath.path]));
  for (const { name, volumeMounts } of template.spec.containers)
    for (const mount of volumeMounts)
      assert.equal(mount.mountPath, folders.get(mount.name), `${metadata.name}/${name}`);
}
console.log(`${objects.length} objects of examples/kubernetes`);
