import { runtimeDirectory as directory } from '@wins/wins-program';
import { asPipeError } from './pipe-path.js';

/**
 * Names the private directory that holds the sockets of bare pipe names on POSIX.
 *
 * `WINS_RUNTIME_DIR` if set; else `/run/rancher-wins` for root; else `$XDG_RUNTIME_DIR/rancher-wins`.
 * An empty variable counts as unset. Nothing is looked up or created.
 *
 * @param env the environment to read; default: the process's.
 * @param uid the user the answer is for; default: the process's.
 * @throws {@link PipeError} `notFound` when nothing names a directory; `invalidName` when a variable
 * holds anything but a plain absolute path.
 */
export function runtimeDirectory(
  env: NodeJS.ProcessEnv = process.env,
  uid: number | undefined = process.getuid?.(),
): string {
  return asPipeError(() => directory(env, uid));
}
