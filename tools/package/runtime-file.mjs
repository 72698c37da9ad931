import { readFileSync } from 'node:fs';
import { checkedNode } from './checked-node.mjs';

const CODE_CACHE = 'NODE_COMPILE_CACHE';

/**
 * Returns the pinned runtime with the name NODE_COMPILE_CACHE overwritten. Otherwise Node would load compiled code of our first script from the
 * folder in this variable. No option prevents this.
 */
export function runtimeFile(name) {
  const runtime = readFileSync(checkedNode(name));
  // Do not overwrite the name in Node's snapshot: only `module.enableCompileCache()` reads it there. In the snapshot, each text
  // follows its length.
  const inSnapshot = Buffer.of(CODE_CACHE.length, 0, 0, 0);
  replaceOnce(runtime, `\0${CODE_CACHE}\0`, '\0'.repeat(CODE_CACHE.length + 2), (at) =>
    runtime.subarray(at - 3, at + 1).equals(inSnapshot),
  );
  return runtime;
}

/**
 * Replaces a text by another of the same length; throws unless the text occurs exactly once.
 *
 * @param {(at: number) => boolean} [isLeft] - Whether to ignore the occurrence at this offset.
 */
export function replaceOnce(bytes, text, by, isLeft = () => false) {
  const found = [];
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1))
    if (!isLeft(at)) found.push(at);
  if (found.length !== 1)
    throw new Error(
      `the runtime contains ${JSON.stringify(text)} ${found.length} times; wanted it once`,
    );
  bytes.write(by, found[0]);
}
