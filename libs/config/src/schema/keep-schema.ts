import { about } from './notation.js';
import {
  list,
  matching,
  required,
  section,
  sha256,
  shown,
  someText,
  variables,
} from './value-schemas.js';
import { keptRestarts } from './restart-keys.js';
import { stopKeys, treeLimits } from './white-list-schema.js';

export function keptPrograms() {
  return about(
    list(keptProgram(), 'sections'),
    'Programs that the daemon starts by itself and keeps running. They outlive the daemon. ' +
      'Clients do not see them.',
  ).default([]);
}

function keptProgram() {
  return about(
    section({
      name: about(
        shown(
          matching(
            /^[A-Za-z0-9][A-Za-z0-9._-]{0,57}$/,
            'a word of 1 to 58 letters, digits, ".", "_" and "-"',
          ),
        ),
        'Name of the program, unique in this list. Its run is called keep:NAME.',
        { absent: 'the file name of its program' },
      ).exactOptional(),
      path: required(shown(someText('a path')), 'The program, by its path on the host.'),
      args: about(
        list(matching(/^[^\0\p{Cs}]*$/u, 'a word without NUL'), 'words'),
        'Arguments, passed verbatim.',
        { asWritten: 'text', isSecret: true, shown: 'count' },
      ).default([]),
      envs: about(variables(), 'Environment variables, in addition to those of every run.', {
        asWritten: 'text',
        isSecret: true,
        shown: 'names',
      }).default({}),
      sha256: about(
        shown(list(sha256(), 'SHA-256 digests')).min(1, { error: 'at least one SHA-256 digest' }),
        'Accepted SHA-256 digests of the content.',
        { shorthand: true, absent: 'any content' },
      ).exactOptional(),
      restart: about(
        keptRestarts(),
        'When it is restarted: a policy alone, or a section. By default always.',
        { absent: 'always', shorthand: 'policy', strictKeys: true },
      ).prefault({}),
      limits: about(treeLimits(), 'Limits of the run as a whole.', {
        absent: 'none',
        strictKeys: true,
      }).exactOptional(),
      ...stopKeys(),
    }),
    'A program that the daemon keeps running.',
    { strictKeys: true, typeName: 'KeptProgram' },
  );
}
