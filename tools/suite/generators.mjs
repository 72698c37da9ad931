/**
 * The generators of all that is made from the sources and committed, in their order: each reads what those before it have made. Run with
 * `--check`, one writes nothing, and fails when what is committed is something else.
 *
 * @type {readonly { title: string, of: RegExp, args: readonly string[] }[]}
 */
export const GENERATORS = [
  { title: 'code of protos', of: /^libs\/wins-api\//, args: ['tools/gen-proto.mjs'] },
  {
    title: 'references',
    of: /^(?:apps|docs|libs\/config|tools\/windows)\//,
    args: ['tools/references.mjs'],
  },
  { title: 'public faces', of: /^(?:libs|etc)\//, args: ['tools/api-reports.mjs'] },
];
