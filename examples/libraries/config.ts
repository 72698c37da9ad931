import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConfigError, loadConfig } from '@wins/config';
import { windowsFileTrust } from '@wins/windows-host';

// On systems other than Windows, the owner and mode of the file decide who can write to it.
const trust = process.platform === 'win32' ? windowsFileTrust() : undefined;
const file = path.join(await mkdtemp(path.join(tmpdir(), 'example-')), 'config');

await writeFile(file, 'white_list:\n  proxyPorts: [9796]\n', { mode: 0o600 });
const { config, found } = await loadConfig(file, { trust });
console.log(found, config.whiteList.proxyPorts);

await writeFile(file, 'white_list:\n  proxyPorts: [0]\n');
try {
  await loadConfig(file, { trust });
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  // `error.message` is for people; it also states the found and the expected value.
  for (const { code, keyPath, line } of error.problems) console.log(code, keyPath, line);
}
