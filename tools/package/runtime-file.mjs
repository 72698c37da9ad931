import { readFileSync } from 'node:fs';
import { checkedNode } from './checked-node.mjs';

const CODE_CACHE = 'NODE_COMPILE_CACHE';

/**
 * The pinned runtime, less its knowledge of NODE_COMPILE_CACHE. It would take what lies in the folder that this variable
 * names for the compiled form of our first script, and there is no option against that: the name is wiped out.
 */
export function runtimeFile(name) {
  const runtime = readFileSync(checkedNode(name));
  // In the snapshot of Node's own scripts each text stands behind its length; what reads it there is `module.enableCompileCache()` alone.
  const inSnapshot = Buffer.of(CODE_CACHE.length, 0, 0, 0);
  replaceOnce(runtime, `\0${CODE_CACHE}\0`, '\0'.repeat(CODE_CACHE.length + 2), (at) =>
    runtime.subarray(at - 3, at + 1).equals(inSnapshot),
  );
  return runtime;
}

/**
 * Replaces a text in bytes by another of the same length, and refuses when it is not there exactly once.
 *
 * @param {(at: number) => boolean} [isLeft] - Whether the one at this offset is neither counted nor replaced.
 */
export function replaceOnce(bytes, text, by, isLeft = () => false) {
  const found = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1))
    if (!isLeft(at)) found.push(at);
  if (found.length !== 1)
    throw new Error(
      `looked for ${JSON.stringify(text)} in the runtime: found it ${found.length} times; wanted it once`,
    );
  bytes.write(by, found[0]);
}
