import type { Answer, Show } from '@wins/base';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { listenForInterruptions } from '../interruptions.js';

const EVERY_MS = 1000;

/** Prints an answer, and again after each change, until interruption. It polls, because earlier daemons do not report changes. */
export async function watchAnswer(
  ask: (signal: AbortSignal) => Promise<Answer>,
  show: Show,
): Promise<void> {
  const interrupted = new AbortController();
  const { signal } = interrupted;
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
