// Builds Helm's template engine from tools/chart/engine with Debian's Go packages. Nothing is downloaded.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { buildGo, hasGo } from '../go.mjs';

const root = path.resolve(import.meta.dirname, '../..');
export const chartFolder = path.join(root, 'charts/rancher-wins-upgrader');
export const cacheFolder = path.join(root, 'node_modules/.cache/wins-chart');
const PACKAGES = [
  'github.com/Masterminds/sprig',
  'github.com/xeipuuv/gojsonschema',
  'sigs.k8s.io/yaml',
];

export const missing = hasGo(PACKAGES)
  ? undefined
  : 'Go with the packages that Helm is made of (Debian: apt-get install golang-go ' +
    'golang-github-masterminds-sprig-dev golang-github-xeipuuv-gojsonschema-dev golang-k8s-sigs-yaml-dev)';

let program;

function engine() {
  if (program !== undefined) return program;
  if (missing !== undefined) throw new Error(`the chart cannot be rendered without ${missing}`);
  mkdirSync(cacheFolder, { recursive: true });
  const built = path.join(cacheFolder, 'engine');
  buildGo(path.join(import.meta.dirname, 'engine'), {
    output: built,
    cache: path.join(cacheFolder, 'go'),
  });
  return (program = built);
}

/**
 * Renders like `helm template`.
 *
 * @returns `{ values, notes, documents: [{ template, object }] }`, or `{ error }`.
 */
export function render(
  values,
  { release = 'wins', namespace = 'cattle-system', skipSchema = false } = {},
) {
  const input = JSON.stringify({ chart: chartFolder, values, release, namespace, skipSchema });
  const output = execFileSync(engine(), { input, maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(output.toString());
}

/** Expands the command line of a container as the kubelet does: `$(NAME)` is a variable of the container, and `$$` is one `$`. */
export function wordsOf({ command, args, env = [] }, podUid = '') {
  const values = new Map(env.map(({ name }) => [name, podUid]));
  const expand = (word) =>
    word.replace(/\$\$|\$\(([^)]*)\)/g, (found, name) =>
      found === '$$' ? '$' : (values.get(name) ?? found),
    );
  return [...command, ...args].map(expand);
}
