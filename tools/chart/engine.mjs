// Builds Helm's template engine from tools/chart/engine with Debian's Go packages. Nothing is downloaded.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
export const chartFolder = path.join(root, 'charts/rancher-wins-upgrader');
export const cacheFolder = path.join(root, 'node_modules/.cache/wins-chart');
const gopath = '/usr/share/gocode';
const packages = ['Masterminds/sprig', 'xeipuuv/gojsonschema'];

export const missing = whatIsMissing();

function whatIsMissing() {
  const hasGo = spawnSync('/usr/bin/go', ['version'], { stdio: 'ignore' }).status === 0;
  const hasPackages =
    existsSync(path.join(gopath, 'src/sigs.k8s.io/yaml')) &&
    packages.every((name) => existsSync(path.join(gopath, 'src/github.com', name)));
  return hasGo && hasPackages
    ? undefined
    : 'Go with the packages that Helm is made of (Debian: apt-get install golang-go ' +
        'golang-github-masterminds-sprig-dev golang-github-xeipuuv-gojsonschema-dev golang-k8s-sigs-yaml-dev)';
}

let program;

function engine() {
  if (program !== undefined) return program;
  if (missing !== undefined) throw new Error(`the chart cannot be rendered without ${missing}`);
  mkdirSync(cacheFolder, { recursive: true });
  const built = path.join(cacheFolder, 'engine');
  // Without cgo, Go compiles its packages for networks again. With cgo it needs a C compiler.
  const hasCompiler = spawnSync('gcc', ['--version'], { stdio: 'ignore' }).status === 0;
  execFileSync('/usr/bin/go', ['build', '-o', built, '.'], {
    cwd: path.join(import.meta.dirname, 'engine'),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      GOCACHE: path.join(cacheFolder, 'go'),
      GOPATH: gopath,
      GO111MODULE: 'off',
      GOPROXY: 'off',
      CGO_ENABLED: hasCompiler ? '1' : '0',
    },
    stdio: ['ignore', 'inherit', 'inherit'],
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
