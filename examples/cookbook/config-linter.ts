// Judges configs of wins before they reach a node: node config-linter.mjs FILE...
import { readFile } from 'node:fs/promises';
import { ConfigError, parseConfig, type ConfigProblem } from '@wins/config';

/** Annotations of GitHub Actions escape these characters. */
const escaped = (text: string): string =>
  text.replace(/[%\r\n:,]/g, (one) => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`);

function print({ severity, file, line = 1, column = 1, keyPath, ...problem }: ConfigProblem): void {
  const text = `${keyPath}: found ${problem.found}, expected ${problem.expected}; ${problem.nextStep}`;
  console.log(`::${severity} file=${escaped(file)},line=${line},col=${column}::${escaped(text)}`);
}

for (const fileName of process.argv.slice(2)) {
  try {
    // The nodes may run another system than this program.
    const options = { fileName, platform: 'win32', strict: true } as const;
    const { warnings } = parseConfig(await readFile(fileName), options);
    warnings.forEach(print);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    error.problems.forEach(print);
    process.exitCode = 1;
  }
}
