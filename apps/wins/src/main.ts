/**
 * The program `wins`: finds the command that a command line means, and loads only the application that it belongs to.
 */
import { completeWords, type ValueSources } from './command-line/completion/complete-words.js';
import { runCommandLine, type CommandOutput } from './command-line/run-command-line.js';
import { EXIT, RUN_MARKER_VARIABLE, VERSION } from '@wins/base';
import { root, rootOf } from './commands/root.js';
import { upIn } from './commands/up.js';
import { client, output, server, upgradeHelper } from './load-applications.js';
import { showAnswer } from './output/show-answer.js';

/** Asked often, by programs; answered without reading anything else. */
const VERSION_WORDS = new Set(['--version', '-version', '-v', 'version']);

async function run(typed: readonly string[]): Promise<number> {
  // In a run this program is the upgrade helper, whatever the words say: a client of the pipe chose them, and the helper judges them. `up` is all that
  // it has there.
  if (process.env[RUN_MARKER_VARIABLE] !== undefined)
    return upgradeHelper().runInRun(typed, (words, inside) =>
      runCommandLine(rootOf([upIn(inside)]), words, printed),
    );
  const [first = ''] = typed;
  if (typed.length === 1 && VERSION_WORDS.has(first)) {
    process.stdout.write(`rancher-wins version ${VERSION}\n`);
    return EXIT.client.ok;
  }
  if (first.startsWith('--get-') && (await completeWords(root, typed, sources)))
    return EXIT.client.ok;
  if (!hasWorkingDirectory()) {
    process.stderr.write('wins: the working directory no longer exists; change to another one\n');
    return EXIT.client.failed;
  }
  const argv = first === 'help' ? [...typed.slice(1), '--help'] : typed;
  return runCommandLine(root, argv, printed);
}

const printed: CommandOutput = { showAnswer, printHelp: (path) => output().printHelp(path) };

const sources: ValueSources = {
  runs: (server, signal) => client().runNames(server, signal),
  configKeys: () => server().listConfigKeys(),
};

/** Without one, what reads most command lines fails. */
function hasWorkingDirectory(): boolean {
  try {
    return process.cwd() !== '';
  } catch {
    return false;
  }
}

// A reader that has gone (wins … | head) is no failure; writers look at the stream themselves.
process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
// It ends by itself: process.exit() waits for threads of V8, and one of them for a collection that then never comes
// (docs/adr/0053-embed-node-26.md).
void run(process.argv.slice(2)).then((code) => (process.exitCode = code));
