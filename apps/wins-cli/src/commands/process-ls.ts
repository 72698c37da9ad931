import { EXIT, type Answer, type CommandSurroundings, type Show } from '@wins/base';
import type { CallOptions, Run, WinsClient } from '@wins/wins-api';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
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
      const found = options.detached
        ? await detachedRuns(runs, { signal })
        : await runs.list({ signal });
      onDaemonChange('serving');
      return answerOf(found.map(factsOf), options.detached ? DETACHED : LIVING);
    };
    if (options.watch) await watchAnswer(ask, show);
    else await show(await ask());
  });
  return EXIT.client.ok;
}

/** Lists the detached runs, also ended ones. */
export async function detachedRuns(
  runs: WinsClient['runs'],
  options: CallOptions,
): Promise<readonly Run[]> {
  const all = await runs.list({ ...options, all: true });
  return all.filter(({ lifetime }) => lifetime === 'detached');
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
