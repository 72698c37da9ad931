import { STOP_SIGNALS } from '@wins/base';
import * as z from 'zod/mini';
import {
  count,
  flag,
  list,
  matching,
  off,
  optional,
  port,
  required,
  section,
  sha256List,
  shown,
  someText,
  withDefault,
} from './value-schemas.js';
import { about, noted } from './notation.js';
import { grantedRestarts } from './restart-keys.js';

/**
 * Permitted arguments: none, any, or exactly one of the complete lists in the array. An argument is a literal word, or a rule for its value. With
 * `after`, it begins with this literal text, such as `--port=`, and the value follows.
 */
export type ArgumentRules =
  | 'none'
  | 'any'
  | readonly (readonly (
      | string
      | ({ readonly after?: string } & (
          | { readonly integer: { readonly min: number; readonly max: number } }
          | { readonly port: true }
          | { readonly pathUnder: string }
          | { readonly oneOf: readonly string[] }
        ))
    )[])[];

/** Checks only the form of the arguments; `@wins/process-manager` checks the meaning of paths. */
function argumentRules() {
  // Do not use `transform`: the JSON Schema would lose the surrounding defaults.
  const word = z.union([z.string(), z.number(), z.boolean()], { error: 'a word' }).check(
    z.overwrite(String),
    z.refine((text) => /^[^\0\p{Cs}]*$/u.test(String(text)), { error: 'a word without NUL' }),
  );
  const number = (name: string) => z.int({ error: `a whole number as "${name}"` });
  const wanted =
    'a word, {integer: {min, max}}, {port: true}, {pathUnder: FOLDER} or {oneOf: [WORDS]}';
  const form = z
    .strictObject(
      {
        integer: z.exactOptional(
          z.strictObject({ min: number('min'), max: number('max') }, { error: 'min and max' }),
        ),
        port: z.exactOptional(z.literal(true, { error: 'true' })),
        pathUnder: z.exactOptional(someText('a path')),
        oneOf: z.exactOptional(
          z
            .array(word, { error: 'a list of words' })
            .check(z.minLength(1, { error: 'at least one word' })),
        ),
        after: z.exactOptional(
          word.check(z.describe('Text in front of the value, such as --port=.')),
        ),
      },
      { error: wanted },
    )
    .check(
      z.refine(({ after: _after, ...forms }) => Object.keys(forms).length === 1, { error: wanted }),
    );
  const pattern = z.union([word, form], { error: wanted });
  return z.union(
    [
      z.enum(['none', 'any']),
      z.array(z.array(pattern, { error: 'a list of arguments' }), {
        error: 'none, any, or a list of argument lists',
      }),
    ],
    { error: 'none, any, or a list of argument lists' },
  );
}

/** A caller as the system identifies it. A container id may be cut after 12 digits or more, with `*` in place of the rest. */
const CALLER =
  /^(?:administrators|user:(?:0|[1-9][0-9]{0,9})|account:S-1-[0-9]{1,15}(?:-[0-9]{1,10}){1,15}|container:(?:\*|[0-9a-f]{12,63}\*|[0-9a-f]{64}))$/;
const VARIABLE_PATTERN = /^(?=.*\S)[^=*\p{Cc}\p{Zl}\p{Zp}\p{Cs}]+\*?$/u;
const KIB = 1024;
const MIB = 1024 * KIB;

export function whiteListSection() {
  return withDefault(
    section({
      processPaths: withDefault(
        list(allowedPath(), 'paths'),
        [],
        'Programs that containers may run. Empty: nothing may run.',
        { since: '0.0.1' },
      ),
      proxyPorts: withDefault(
        list(port(), 'port numbers'),
        [],
        'Host TCP ports that containers may reach. Empty: none.',
        { since: '0.1.0' },
      ),
      proxyUdpPorts: withDefault(
        list(port(), 'port numbers'),
        [],
        'Host UDP ports that containers may reach. Empty: none.',
      ),
    }),
    {},
    'Programs and ports of the host that containers may use.',
    { since: '0.0.1' },
  );
}

export function stopKeys() {
  return {
    stopSignal: optional(
      z.enum([...STOP_SIGNALS.posix, ...STOP_SIGNALS.windows], {
        error: `${STOP_SIGNALS.posix.join(', ')}, or on Windows CTRL_BREAK or WM_CLOSE`,
      }),
      'Signal that asks a run to end; 10 s later the run is killed. ' +
        'On Windows: CTRL_BREAK for the consoles of the run, or WM_CLOSE for its windows.',
      { absent: 'SIGTERM; on Windows the run is killed at once' },
    ),
    stopEvent: optional(
      shown(someText('the name of an event')),
      'On Windows, instead of stopSignal: the event that the program waits for, such as Global\\exporter-stop.',
      { absent: 'none' },
    ),
  };
}

export function treeLimits() {
  const wanted = 'a number of processors from 0.01 to 4096';
  const keys = section({
    memoryBytes: optional(
      count('bytes', 2 ** 50, 1024 * 1024),
      'Memory of the run and all its processes, in bytes.',
      { absent: 'no limit' },
    ),
    cpus: optional(
      z.number({
        error: wanted,
        checks: [z.gte(0.01), z.lte(4096)],
      }),
      'Processor time in processors, such as 0.5. Needs cgroup v2 on Linux.',
      { absent: 'no limit' },
    ),
    pids: optional(
      count('processes', 4_194_304),
      'Processes at a time. On Linux threads count too, and cgroup v2 is needed.',
      { absent: 'no limit' },
    ),
  });
  return noted(keys, { typeName: 'TreeLimits' });
}

function allowedPath() {
  return about(
    section({
      path: required(shown(someText('a path')), 'The program, by its path on the host.'),
      sha256: optional(
        sha256List(),
        'Accepted SHA-256 digests of the content. Absent: any content.',
        { shorthand: true, absent: 'any content' },
      ),
      envs: optional(
        shown(
          list(
            matching(VARIABLE_PATTERN, 'the name of an environment variable, or a prefix and "*"'),
            'names',
          ).check(
            z.refine((names) => names.length === 1 || !names.includes('any'), {
              error: 'names, or "any" alone',
            }),
          ),
        ),
        'Environment variables that a client may set: names, prefixes such as KUBE_*, or "any". ' +
          'Variables that can make a program load code need their exact name. By default none.',
        { shorthand: true, absent: 'none' },
      ),
      args: optional(
        argumentRules(),
        'Arguments that a client may pass: none, any, or a list of argument lists. By default any.',
        { asWritten: 'typed', shown: 'count', absent: 'any' },
      ),
      directories: optional(
        shown(list(someText('a path'), 'paths')),
        "Working folders that a client may choose, besides the program's own.",
        { shorthand: true, absent: "the program's own" },
      ),
      for: optional(
        shown(
          list(
            matching(
              CALLER,
              'administrators, user:UID, account:SID, container:ID (or 12 digits of it and "*") or container:*',
            ),
            'callers',
          ).check(z.minLength(1, { error: 'at least one caller' })),
        ),
        'Callers that may run it, as the system identifies them: administrators, user:UID, account:SID, container:ID or container:*. By default everybody who may open the pipe.',
        { shorthand: true, absent: 'everybody' },
      ),
      mayBreakAway: optional(
        flag(),
        'Whether the program may deliberately leave processes behind on Windows, as an upgrade helper does.',
        { absent: 'no' },
      ),
      argv0: optional(
        z.enum(['copy', 'listed'], { error: 'copy or listed' }),
        'Path that the program gets as argv[0] and that lists of processes show: ' +
          'copy for the path of the verified copy, listed for the listed path. By default copy.',
        { absent: 'copy' },
      ),
      ...stopKeys(),
      limits: optional(treeLimits(), 'Limits of a whole run when its client requests none.', {
        absent: 'maxLimits',
        strictKeys: true,
      }),
      maxLimits: optional(treeLimits(), 'Maximum limits that a client may request.', {
        absent: 'limits',
        strictKeys: true,
      }),
      detached: optional(
        section({
          allow: off('Whether a client may start it detached.'),
          maxRuns: withDefault(
            count('runs', 1024),
            4,
            'Maximum number of detached runs, including ended ones. Beyond it the run that ended first is removed.',
          ),
          spoolBytes: withDefault(
            count('bytes', 512 * MIB, MIB),
            64 * MIB,
            'Maximum stored output of each run, in the state folder. Beyond it the oldest output is removed.',
          ),
          maxAgeHours: withDefault(
            count('hours', 8760),
            24,
            'Hours for which an ended run and its output are kept.',
          ),
          restart: optional(
            grantedRestarts(),
            'Restarts of runs that ended by themselves: true, or a section. By default none.',
            { absent: 'none', shorthand: 'allow', strictKeys: true },
          ),
        }),
        'Detached runs of the program, which outlive their client and the daemon (Linux). By default none.',
        { absent: 'none', typeName: 'DetachedRunSettings' },
      ),
      files: optional(
        section({
          max: withDefault(count('files', 32), 8, 'Maximum number of files of one run.'),
          maxBytes: withDefault(
            count('bytes', 768 * KIB),
            128 * KIB,
            'Maximum total size of the files of one run, in bytes.',
          ),
        }),
        'Files that a client may give to its run, and change while the run lives (prc run --mount-file). By default none.',
        { absent: 'none' },
      ),
    }),
    'A program that containers may run: its path alone, or an object.',
    { since: '0.0.1', shorthand: 'path', strictKeys: true, typeName: 'AllowedPath' },
  );
}
