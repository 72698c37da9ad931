import { about } from './notation.js';
import {
  list,
  matching,
  optional,
  required,
  section,
  sha256List,
  shown,
  someText,
  variables,
  withDefault,
} from './value-schemas.js';
import { keptRestarts } from './restart-keys.js';
import { stopKeys, treeLimits } from './white-list-schema.js';

export function keptPrograms() {
  return withDefault(
    list(keptProgram(), 'sections'),
    [],
    'Programs that the daemon starts by itself and keeps running. They outlive the daemon. ' +
      'Clients do not see them.',
  );
}

function keptProgram() {
  return about(
    section({
      name: optional(
        shown(
          matching(
            /^[A-Za-z0-9][A-Za-z0-9._-]{0,57}$/,
            'a word of 1 to 58 letters, digits, ".", "_" and "-"',
          ),
        ),
        'Name of the program, unique in this list. Its run is called keep:NAME.',
        { absent: 'the file name of its program' },
      ),
      path: required(shown(someText('a path')), 'The program, by its path on the host.'),
      args: withDefault(
        list(matching(/^[^\0\p{Cs}]*$/u, 'a word without NUL'), 'words'),
        [],
        'Arguments, passed verbatim.',
        { asWritten: 'text', isSecret: true, shown: 'count' },
      ),
      envs: withDefault(
        variables(),
        {},
        'Environment variables, in addition to those of every run.',
        { asWritten: 'text', isSecret: true, shown: 'names' },
      ),
      sha256: optional(sha256List(), 'Accepted SHA-256 digests of the content.', {
        shorthand: true,
        absent: 'any content',
      }),
      restart: withDefault(
        keptRestarts(),
        {},
        'When it is restarted: a policy alone, or a section. By default always.',
        { absent: 'always', shorthand: 'policy', strictKeys: true },
      ),
      limits: optional(treeLimits(), 'Limits of the run as a whole.', {
        absent: 'none',
        strictKeys: true,
      }),
      ...stopKeys(),
    }),
    'A program that the daemon keeps running.',
    { strictKeys: true, typeName: 'KeptProgram' },
  );
}
