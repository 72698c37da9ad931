import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ROOT } from './workspace.js';

interface Container {
  readonly name: string;
  readonly args: readonly string[];
}

interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly containers?: readonly Container[];
    readonly template?: { readonly spec: { readonly containers: readonly Container[] } };
  };
}

// Loads the parser of the daemon's config by path, because specs of the built programs import no library of the daemon.
const yaml = createRequire(path.join(ROOT, 'libs/net/package.json'))('yaml') as {
  readonly parse: (text: string) => unknown;
  readonly parseAllDocuments: (text: string) => readonly { toJS(): Manifest }[];
  readonly stringify: (value: unknown) => string;
};
export const { parse: parseYaml, stringify: stringifyYaml } = yaml;

export function exampleManifests(file: string): Manifest[] {
  const text = readFileSync(path.join(ROOT, 'examples/kubernetes', file), 'utf8');
  return yaml.parseAllDocuments(text).map((document) => document.toJS());
}

export function wordsOfContainer(
  manifests: readonly Manifest[],
  name: string,
  folder: string,
): string[] {
  for (const { spec } of manifests) {
    const containers = spec?.containers ?? spec?.template?.spec.containers ?? [];
    const found = containers.find((container) => container.name === name);
    if (found === undefined) continue;
    return found.args.map((word) =>
      word.startsWith('C:\\') ? path.join(folder, word.slice(3).replaceAll('\\', '/')) : word,
    );
  }
  throw new Error(`cannot find a container: found none named ${name}`);
}
