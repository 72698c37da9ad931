import { readFileSync } from 'node:fs';
import { checkedNode } from './checked-node.mjs';

const CODE_CACHE = 'NODE_COMPILE_CACHE';

/**
 * Returns the pinned runtime with the name NODE_COMPILE_CACHE overwritten. Otherwise Node would load compiled code of our first script from the
 * folder in this variable. No option prevents this.
 */
export function runtimeFile(name) {
  const runtime = readFileSync(checkedNode(name));
  // Node's snapshot may contain further copies of the name. Leave them as they are, because they are used only by
  // `module.enableCompileCache()`, which wins does not call. The four bytes before a text in the snapshot are its length, and
  // identify such a copy.
  const inSnapshot = Buffer.of(CODE_CACHE.length, 0, 0, 0);
  replaceOnce(runtime, `\0${CODE_CACHE}\0`, '\0'.repeat(CODE_CACHE.length + 2), (at) =>
    runtime.subarray(at - 3, at + 1).equals(inSnapshot),
  );
  return runtime;
}

/**
 * Overwrites a text with another text of the same length. Throws unless the text occurs exactly once.
 *
 * @param {(at: number) => boolean} [isLeft] - Whether the occurrence at this offset is left alone: neither overwritten nor counted.
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
