import { EXIT, type Answer, type CommandSurroundings, type Show } from '@wins/base';
import type { Run, WinsClient } from '@wins/wins-api';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { askQuietly } from '../daemon/ask-quietly.js';
import {
  withDaemon,
  withDaemonOfAdministrators,
  type DaemonOptions,
} from '../daemon/connect-daemon.js';
import { listenForInterruptions } from '../interruptions.js';
import { StandardOutput } from '../standard-output.js';
import { exitText, factsOf, limitsText, type RunFacts } from './run-facts.js';

export interface ListOptions extends DaemonOptions {
  readonly watch: boolean;
  readonly detached: boolean;
}

export async function listProcesses(options: ListOptions, { show }: CommandSurroundings) {
  const run = options.detached ? withDaemonOfAdministrators : withDaemon;
  await run(options, async ({ runs }, onDaemonChange) => {
    const ask = async (signal?: AbortSignal): Promise<Answer> => {
      const found = await listRuns(runs, options, signal);
      onDaemonChange('serving');
      return answerOf(found.map(factsOf), options.detached ? DETACHED : LIVING);
    };
    if (options.watch) await watchAnswer(ask, show);
    else await show(await ask());
  });
  return EXIT.client.ok;
}

/** Lists the living runs, or the detached ones, also ended ones. */
async function listRuns(
  runs: WinsClient['runs'],
  { detached }: Pick<ListOptions, 'detached'>,
  signal?: AbortSignal,
): Promise<readonly Run[]> {
  const all = await runs.list({ signal, all: detached });
  return detached ? all.filter(({ lifetime }) => lifetime === 'detached') : all;
}

/** Characters that every shell reads as one plain word. */
const PLAIN = /^[\w.+@-]{1,200}$/;

/** Lists names of runs for a shell, with a description of each. @throws Error when no valid answer arrives before the signal aborts. */
export async function listRunNames(
  { server, detached }: Pick<ListOptions, 'server' | 'detached'>,
  signal: AbortSignal,
): Promise<[string, string][]> {
  const found = await askQuietly(server, signal, ({ runs }) =>
    listRuns(runs, { detached }, signal),
  );
  return found.flatMap(({ name }) => (PLAIN.test(name) ? [[name, 'a run of the daemon']] : []));
}

const CELLS = {
  NAME: ({ name }) => name,
  PID: ({ pid }) => pid?.toString(),
  STATE: ({ state }) => state,
  STARTED: ({ startedAt }) => startedAt?.toISOString(),
  EXPOSES: ({ exposes }) => exposes.join(' '),
  LIMITS: limitsText,
  EXIT: exitText,
  RESTARTS: ({ restarts }) => String(restarts),
  PATH: ({ path }) => path,
  WHY: ({ gaveUp, refused }) => gaveUp ?? refused,
} satisfies Record<string, (run: RunFacts) => string | null | undefined>;

type Heading = keyof typeof CELLS;

const LIVING: readonly Heading[] = ['NAME', 'PID', 'STATE', 'STARTED', 'EXPOSES', 'LIMITS', 'PATH'];
const DETACHED: readonly Heading[] = [
  'NAME',
  'PID',
  'STATE',
  'STARTED',
  'EXIT',
  'RESTARTS',
  'PATH',
  'WHY',
];
const DROPS: readonly Heading[] = ['PATH', 'LIMITS', 'STARTED', 'EXPOSES', 'PID', 'RESTARTS'];

function answerOf(runs: readonly RunFacts[], headings: readonly Heading[]): Answer {
  return {
    value: runs,
    table: {
      headings,
      rows: runs.map((run) => headings.map((heading) => CELLS[heading](run) ?? '')),
      drops: DROPS,
    },
    names: runs.map(({ name }) => name),
  };
}

const EVERY_MS = 1000;

/** Prints an answer now and after each change, until the reader leaves. Polls, because earlier daemons do not report changes. */
export async function watchAnswer(ask: (signal: AbortSignal) => Promise<Answer>, show: Show) {
  const interrupted = new AbortController();
  using out = new StandardOutput().watch();
  const signal = AbortSignal.any([interrupted.signal, out.gone]);
  using _interruptions = listenForInterruptions(() => interrupted.abort());
  let shown: unknown;
  try {
    for (;;) {
      const answer = await ask(signal);
      if (!isDeepStrictEqual(answer.value, shown)) {
        shown = answer.value;
        if (!(await show({ ...answer, isRenewed: true }))) return;
      }
      await delay(EVERY_MS, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
