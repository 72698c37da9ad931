import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConfigError, loadConfig } from '@wins/config';

const file = path.join(await mkdtemp(path.join(tmpdir(), 'example-')), 'config');

await writeFile(file, 'white_list:\n  proxyPorts: [9796]\n', { mode: 0o600 });
const { config, found } = await loadConfig(file);
console.log(found, config.whiteList.proxyPorts);

await writeFile(file, 'white_list:\n  proxyPorts: [0]\n');
try {
  await loadConfig(file);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  // Its message is for people, and says what was found and what was wanted.
  for (const { code, keyPath, line } of error.problems) console.log(code, keyPath, line);
}
