// Checks manifests against the API types of the package kubernetes-types. Each manifest becomes an object literal, so TypeScript finds unknown, wrong
// and missing fields.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { cacheFolder } from './engine.mjs';

const ts = createRequire(import.meta.url)('typescript');
const MODULES = {
  'v1/Pod': 'kubernetes-types/core/v1',
  'v1/ServiceAccount': 'kubernetes-types/core/v1',
  'v1/ConfigMap': 'kubernetes-types/core/v1',
  'apps/v1/DaemonSet': 'kubernetes-types/apps/v1',
  'upgrade.cattle.io/v1/Plan': path.join(import.meta.dirname, 'upgrade-plan.ts'),
};

const OPTIONS = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
  types: [],
  lib: ['lib.es2023.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
};
const file = path.join(cacheFolder, 'manifests.ts');
const host = ts.createCompilerHost(OPTIONS);
const { getSourceFile } = host;
/** All programs share the files of Kubernetes and TypeScript, because each would parse them again. */
const shared = new Map();
host.getSourceFile = (name, ...more) => {
  if (name === file) return getSourceFile(name, ...more);
  if (!shared.has(name)) shared.set(name, getSourceFile(name, ...more));
  return shared.get(name);
};

/** Returns a line for each problem. */
export function complaintsOfKubernetes(objects) {
  const lines = objects.flatMap((object, index) => {
    const module = MODULES[`${object.apiVersion}/${object.kind}`];
    if (module === undefined)
      return [`const unknown${index}: never = ${JSON.stringify(object.kind)};`];
    return [
      `import type { ${object.kind} as Kind${index} } from '${module}';`,
      `export const object${index}: Kind${index} = ${JSON.stringify(object, null, 2)};`,
    ];
  });
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(file, lines.join('\n'));
  const program = ts.createProgram([file], OPTIONS, host);
  return ts.getPreEmitDiagnostics(program).map(({ file: source, start, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, '\n');
    const line = source === undefined ? '' : source.text.slice(start).split('\n', 1)[0];
    return `${text} (${line})`;
  });
}
