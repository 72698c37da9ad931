// Runs cases against one target: the corpus, then generated ones. A case is JSON with a list `steps`; after a failure, steps are removed to shorten
// it. A case fails if `target.run` throws, takes too long, or causes an uncaught exception or an unhandled rejection. Each of these means that the
// tested code broke a guarantee.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Random } from './random.mjs';

/** Time limit of a case: far more than any needs, even on a busy machine. */
const ENDLESS_MS = 60_000;
const MOST_ATTEMPTS_TO_SHRINK = 300;
const CORPUS = path.join(import.meta.dirname, 'corpus');

let escape;
for (const event of ['uncaughtException', 'unhandledRejection']) {
  process.on(event, (error) => {
    if (escape === undefined) throw error;
    escape(error);
  });
}

export function corpusOf(name) {
  const folder = path.join(CORPUS, name);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => [file, JSON.parse(readFileSync(path.join(folder, file), 'utf8'))]);
}

/**
 * Plays the corpus, then up to `cases` generated cases. After `seconds`, starts no further generated case once it has played `atLeast` of them.
 *
 * @returns Number of cases, duration of the slowest, and the first failure, shortened.
 */
export async function play(target, { cases, seconds, atLeast, seed }) {
  const begun = performance.now();
  /** @type {{ cases: number, slowestMs: number, slowest: string, failure?: { label: string, error: Error, given: any } }} */
  const result = { cases: 0, slowestMs: 0, slowest: '' };
  const once = async (label, given) => {
    const start = performance.now();
    const error = await attempt(target, given);
    const tookMs = performance.now() - start;
    if (tookMs > result.slowestMs) Object.assign(result, { slowestMs: tookMs, slowest: label });
    result.cases += 1;
    if (error === undefined) return true;
    const least = target.restarts ? given : await shrink(target, given);
    result.failure = { label, error, given: least };
    return false;
  };
  for (const [file, given] of corpusOf(target.name)) {
    if (!(await once(`corpus/${target.name}/${file}`, given))) return result;
  }
  for (let index = 0; index < cases; index += 1) {
    if (index >= atLeast && performance.now() - begun > seconds * 1000) break;
    if (!(await once(`case ${index}`, target.generate(new Random(seed, index))))) return result;
  }
  return result;
}

async function attempt(target, given) {
  try {
    const running = target.run(given);
    if (!(running instanceof Promise)) return undefined;
    let guard;
    const escaped = new Promise((_, reject) => {
      escape = reject;
      guard = setTimeout(() => reject(new Error(`no end after ${ENDLESS_MS} ms`)), ENDLESS_MS);
    });
    try {
      await Promise.race([running, escaped]);
    } finally {
      clearTimeout(guard);
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    escape = undefined;
  }
}

async function shrink(target, given) {
  let least = given;
  let attempts = 0;
  for (let size = Math.ceil(given.steps.length / 2); size > 0; size = Math.floor(size / 2)) {
    for (let at = 0; at < least.steps.length && attempts < MOST_ATTEMPTS_TO_SHRINK; attempts += 1) {
      const steps = least.steps.toSpliced(at, size);
      const shorter = { ...least, steps };
      if ((await attempt(target, shorter)) === undefined) at += size;
      else least = shorter;
    }
  }
  return least;
}
