import { defaultConfigPath, loadConfig } from '@wins/config';
import { loadDaemonConfig } from '../load-daemon-config.js';
import { EXIT } from '../exit-codes.js';

interface CheckOptions {
  readonly config?: string | undefined;
  readonly output: 'text' | 'json';
  readonly lenient: boolean;
  readonly 'content-only': boolean;
}

/**
 * `wins srv config check`: the effective config with the origin of each value, or everything that is
 * wrong with the file. An unknown key is an error here, unless the file is to be judged as the daemon judges it when it starts.
 */
export async function checkConfig(options: CheckOptions): Promise<number> {
  const file = options.config ?? defaultConfigPath();
  const isCopied = options['content-only'];
  const load = isCopied ? loadConfig : loadDaemonConfig;
  const { found, origins, warnings } = await load(file, { strict: !options.lenient });
  if (isCopied && !found) {
    process.stderr.write(`${file}: no such file; wanted the config that will be copied\n`);
    return EXIT.config;
  }
  if (options.output === 'json') {
    process.stdout.write(
      `${JSON.stringify({ file, found, values: origins, warnings }, null, 2)}\n`,
    );
  } else {
    process.stdout.write(`# ${file}${found ? '' : ' (no such file: all defaults)'}\n`);
    const lines = origins.map(({ key, value }) => `${key}: ${JSON.stringify(value)}`);
    const width = Math.max(...lines.map((line) => line.length));
    for (const [index, { origin }] of origins.entries()) {
      const place = origin === 'default' ? 'default' : `line ${origin.line}`;
      process.stdout.write(`${(lines[index] ?? '').padEnd(width)}  # ${place}\n`);
    }
  }
  for (const { message } of warnings) process.stderr.write(`${message}\n`);
  return EXIT.ok;
}
