import { readFileSync } from 'node:fs';
import { checkedNode } from './checked-node.mjs';

const CODE_CACHE = 'NODE_COMPILE_CACHE';

/**
 * Returns the pinned runtime without the name NODE_COMPILE_CACHE. Node would load a file in the folder of this variable as the compiled form of
 * our first script, and no option prevents that. Therefore the name is overwritten.
 */
export function runtimeFile(name) {
  const runtime = readFileSync(checkedNode(name));
  // Node's snapshot stores each text after its length; only `module.enableCompileCache()` reads this one, so it stays.
  const inSnapshot = Buffer.of(CODE_CACHE.length, 0, 0, 0);
  replaceOnce(runtime, `\0${CODE_CACHE}\0`, '\0'.repeat(CODE_CACHE.length + 2), (at) =>
    runtime.subarray(at - 3, at + 1).equals(inSnapshot),
  );
  return runtime;
}

/**
 * Replaces a text in bytes by another of the same length; throws unless it occurs exactly once.
 *
 * @param {(at: number) => boolean} [isLeft] - Whether the occurrence at this offset is ignored.
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
