/**
 * Generators of committed files, in order: each may read the output of earlier ones. With `--check` a generator writes nothing, and fails when a file
 * is outdated.
 *
 * @type {readonly { title: string, of: RegExp, args: readonly string[] }[]}
 */
export const GENERATORS = [
  { title: 'code of protos', of: /^libs\/wins-api\//, args: ['tools/gen-proto.mjs'] },
  {
    title: 'references',
    of: /^(?:apps|charts|docs|examples|libs\/config|tools\/windows)\/|^libs\/[^/]+\/README/,
    args: ['tools/references.mjs'],
  },
  { title: 'public faces', of: /^(?:libs|etc)\//, args: ['tools/api-reports.mjs'] },
];
