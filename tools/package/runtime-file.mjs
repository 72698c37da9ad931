import { readFileSync } from 'node:fs';
import { checkedNode } from './checked-node.mjs';

/**
 * The pinned runtime, less its knowledge of NODE_COMPILE_CACHE. It would take what lies in the folder that this variable
 * names for the compiled form of our first script, and there is no option against that: the name is wiped out.
 */
export function runtimeFile(name) {
  const runtime = readFileSync(checkedNode(name));
  const variable = '\0NODE_COMPILE_CACHE\0';
  replaceOnce(runtime, variable, '\0'.repeat(variable.length));
  return runtime;
}

/** Replaces a text in bytes by another of the same length, and refuses when it is not there exactly once. */
export function replaceOnce(bytes, text, by) {
  const at = bytes.indexOf(text);
  if (at < 0 || bytes.includes(text, at + 1))
    throw new Error(`looked for ${JSON.stringify(text)} in the runtime: wanted it exactly once`);
  bytes.write(by, at);
}
