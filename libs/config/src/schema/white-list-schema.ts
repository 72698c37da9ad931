import * as z from 'zod';
import { argumentRules } from './argument-rules-schema.js';
import { about } from './notation.js';
import { flag, list, matching, port, section, shown, someText } from './value-schemas.js';

/** What the system knows of who connects; a beginning of a container's id is long enough to mean one. */
const CALLER =
  /^(?:administrators|user:(?:0|[1-9][0-9]{0,9})|account:S-1-[0-9]{1,15}(?:-[0-9]{1,10}){1,15}|container:(?:\*|[0-9a-f]{12,63}\*|[0-9a-f]{64}))$/;
const VARIABLE_PATTERN = /^(?=.*\S)[^=*\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+\*?$/u;
const DIGEST = /^[0-9a-fA-F]{64}$/;

/** `white_list`: what containers may use of the host. */
export function whiteListSection() {
  return section({
    processPaths: list(allowedPath(), 'paths')
      .meta(about('Programs that containers may run. Empty: nothing may run.', { since: '0.0.1' }))
      .default([]),
    proxyPorts: list(port(), 'port numbers')
      .meta(about('Host TCP ports that containers may reach. Empty: none.', { since: '0.1.0' }))
      .default([]),
  })
    .meta(about('What containers may use of the host.', { since: '0.0.1' }))
    .prefault({});
}

function allowedPath() {
  const digest = matching(DIGEST, 'a SHA-256 digest of 64 hexadecimal digits').toLowerCase();
  return section({
    path: shown(someText('a path')).meta(
      about('The program, by its path on the host.', { absent: 'required' }),
    ),
    sha256: shown(list(digest, 'SHA-256 digests'))
      .min(1, { error: 'at least one SHA-256 digest' })
      .meta(
        about('Digests, one of which the content must have. Without this key it is not pinned.', {
          shorthand: true,
          absent: 'any content',
        }),
      )
      .optional(),
    envs: shown(
      list(
        matching(VARIABLE_PATTERN, 'the name of an environment variable, or a beginning and "*"'),
        'names',
      ),
    )
      .refine((names) => names.length === 1 || !names.includes('any'), {
        error: 'names, or "any" alone',
      })
      .meta(
        about(
          'Environment variables that a client may set: names, or beginnings such as KUBE_*; or any but guarded ones. By default none.',
          { shorthand: true, absent: 'none' },
        ),
      )
      .optional(),
    args: argumentRules()
      .meta(
        about(
          'Arguments that a client may pass: none, any, or a list of argument lists. By default any.',
          { asWritten: 'typed', shown: 'count', absent: 'any' },
        ),
      )
      .optional(),
    directories: shown(list(someText('a path'), 'paths'))
      .meta(
        about("Folders in which a client may have the program run, besides the program's own.", {
          shorthand: true,
          absent: "the program's own",
        }),
      )
      .optional(),
    for: shown(
      list(
        matching(
          CALLER,
          'administrators, user:UID, account:SID, container:ID (or 12 digits of it and "*") or container:*',
        ),
        'callers',
      ),
    )
      .min(1, { error: 'at least one caller' })
      .meta(
        about(
          'Who may run it, as the system knows them: administrators, user:UID, account:SID, container:ID or container:*. By default everybody who may open the pipe.',
          { shorthand: true, absent: 'everybody' },
        ),
      )
      .optional(),
    mayBreakAway: flag()
      .meta(
        about(
          'Whether the program may leave processes behind on purpose on Windows, as an upgrade helper does.',
          { absent: 'no' },
        ),
      )
      .optional(),
    argv0: z
      .enum(['copy', 'listed'], { error: 'copy or listed' })
      .meta(
        about(
          'What the program gets as its own name: the path of the verified copy, by which process lists show it, or the listed path. By default copy.',
          { absent: 'copy' },
        ),
      )
      .optional(),
  }).meta(
    about('A program that containers may run: its path alone, or an object.', {
      since: '0.0.1',
      shorthand: 'path',
      strictKeys: true,
    }),
  );
}
