import { readFileSync } from 'node:fs';
import { standIn } from '../packages/package-folder.js';

/** Programs that `wins.cjs` loads. */
const PARTS = [
  'wins-cli.cjs',
  'wins-cli-proxy.cjs',
  'wins-features.cjs',
  'wins-keeper.cjs',
  'wins-output.cjs',
  'wins-server.cjs',
  'wins-upgrade.cjs',
];

/** Returns the built programs as one executable file that reports `version`. */
export function singleFile(version: string): string {
  const part = (name: string) =>
    readFileSync(standIn(name), 'utf8').replaceAll('"v1.0.0"', `"${version}"`);
  const parts = PARTS.map(
    (name) => `${JSON.stringify(`./${name}`)}: (module, exports, require) => {\n${part(name)}\n},`,
  );
  return `#!${process.execPath}
const parts = {
${parts.join('\n')}
};
const loaded = {};
const load = (name) => {
  if (parts[name] === undefined) return require(name);
  if (loaded[name] === undefined) {
    const module = (loaded[name] = { exports: {} });
    parts[name](module, module.exports, load);
  }
  return loaded[name].exports;
};
((require) => {
${part('wins.cjs')}
})(load);
`;
}
