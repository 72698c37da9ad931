/** Loads only the application that the command needs. */
import { completeWords } from './command-line/completion/complete-words.js';
import { runCommandLine, type CommandOutput } from './command-line/run-command-line.js';
import { errnoOf, EXIT, RUN_MARKER_VARIABLE, VERSION } from '@wins/base';
import { foundIn } from '@wins/trusted-files';
import { root, rootOf } from './commands/root.js';
import { upIn } from './commands/up.js';
import { help, upgradeHelper } from './load-applications.js';
import { showAnswer } from './show-answer.js';

/** Programs request the version often, so this bundle answers without loading another. */
const VERSION_WORDS = new Set(['--version', '-version', '-v', 'version']);

async function run(typed: readonly string[]): Promise<number> {
  // In a run, this program offers only `up`, because a client chose the arguments. The upgrade helper validates them.
  if (process.env[RUN_MARKER_VARIABLE] !== undefined)
    return upgradeHelper().runInRun(typed, (words, inside) =>
      runCommandLine(rootOf([upIn(inside)]), words, printed),
    );
  const [first = ''] = typed;
  if (typed.length === 1 && VERSION_WORDS.has(first)) {
    process.stdout.write(`rancher-wins version ${VERSION}\n`);
    return EXIT.client.ok;
  }
  if (first.startsWith('--get-') && (await completeWords(root, typed))) return EXIT.client.ok;
  if (!hasWorkingDirectory()) {
    process.stderr.write('wins: the working directory no longer exists; change to another one\n');
    return EXIT.client.failed;
  }
  const argv = first === 'help' ? [...typed.slice(1), '--help'] : typed;
  return runCommandLine(root, argv, printed);
}

const printed: CommandOutput = { showAnswer, printHelp: (path) => help().printHelp(path) };

/** Help and relative paths need a working directory. */
function hasWorkingDirectory(): boolean {
  try {
    return process.cwd() !== '';
  } catch {
    return false;
  }
}

/** Errors of a write whose reader leaves: EOF is of Windows, ECONNRESET of a socket. */
const READER_GONE: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EOF', 'ECONNRESET']);

process.stdout.on('error', (error) => {
  // A closed reader (wins … | head) is not a failure; writers check the stream themselves.
  if (READER_GONE.has(errnoOf(error)) || process.exitCode === EXIT.client.failed) return;
  process.stderr.write(`wins: cannot write to standard output: ${foundIn(error)}\n`);
  process.exitCode = EXIT.client.failed;
});
process.stderr.on('error', () => undefined);
// process.exit() could hang, waiting for a garbage collection that never runs (docs/adr/0053-embed-node-26.md).
void run(process.argv.slice(2)).then((code) => (process.exitCode ??= code));
