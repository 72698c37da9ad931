import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Starts the daemon of these programs, with the pipes of its own that a client finds by the environment that is returned.
 *
 * @param node - What runs it.
 * @param main - The program `wins.cjs`, beside the others.
 * @param folder - For all that it writes; its path is short enough for that of a socket.
 * @returns The environment, and what ends the daemon.
 */
export async function startAnsweringDaemon(node, main, folder) {
  const config = path.join(folder, 'config');
  writeFileSync(config, '{}', { mode: 0o600 });
  const environment = { WINS_RUNTIME_DIR: path.join(folder, 'run') };
  const daemon = spawn(node, [main, 'srv', 'app', 'run', '--config', config], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const said = [];
  await new Promise((resolve, reject) => {
    createInterface({ input: daemon.stderr }).on('line', (line) => {
      said.push(line);
      if (line.includes('"msg":"ready"')) resolve();
    });
    daemon.once('error', reject);
    daemon.once('exit', (code) =>
      reject(new Error(`the daemon of ${main} ended with ${code}:\n${said.join('\n')}`)),
    );
  });
  const close = async () => {
    daemon.removeAllListeners('exit').kill();
    await once(daemon, 'exit');
  };
  return { environment, close };
}
