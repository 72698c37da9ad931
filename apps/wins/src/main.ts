/**
 * The program `wins`: finds the command that a command line means, and loads only the application that it belongs to.
 */
import type { Group } from './command-line/command.js';
import type { ShowAnswer } from './command-line/run-command-line.js';
import type { ValueSources } from './command-line/completion/complete-words.js';
import { EXIT, RUN_MARKER_VARIABLE, VERSION } from '@wins/wins-program';
import { rootOf } from './commands/root-of.js';
import { callClient, upgradeHelper } from './load-applications.js';

/** Asked often, by programs; answered without reading anything else. */
const VERSION_WORDS = new Set(['--version', '-version', '-v', 'version']);

/** What the client begins with. */
const CLIENT_WORDS = new Set(['cli', 'client']);

/** What follows where a program asks whether the daemon answers. */
const APP_WORDS = new Set(['app', 'application']);

/** Loads the tree of all commands: a bundle beside this one, like an application. */
const allCommands = () =>
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  require('./wins-commands.cjs') as typeof import('./all-commands.js');

const runWords = async (root: Group, words: readonly string[]): Promise<number> =>
  (await import('./run-words.js')).runCommandLine(root, words, showAnswer);

const showAnswer: ShowAnswer = async (answer, form) =>
  (await import('./output/show-answer.js')).showAnswer(answer, form);

async function run(typed: readonly string[]): Promise<number> {
  // In a run this program is the upgrade helper, whatever the words say: a client of the pipe chose them, and the helper judges them. `up` is all that
  // it has there.
  if (process.env[RUN_MARKER_VARIABLE] !== undefined)
    return upgradeHelper().runInRun(typed, (words, inside) =>
      runWords(rootOf([allCommands().upIn(inside)]), words),
    );
  const [first = ''] = typed;
  if (typed.length === 1 && VERSION_WORDS.has(first)) {
    process.stdout.write(`rancher-wins version ${VERSION}\n`);
    return EXIT.client.ok;
  }
  if (first.startsWith('--get-')) {
    const { completeWords, root } = allCommands();
    if (await completeWords(root, typed, sources)) return EXIT.client.ok;
  }
  if (!hasWorkingDirectory()) {
    process.stderr.write(
      'wins: the working directory does not exist any more; change to one that does\n',
    );
    return EXIT.client.failed;
  }
  const argv = first === 'help' ? [...typed.slice(1), '--help'] : typed;
  return runWords(await rootFor(argv), argv);
}

/** The commands that words may mean which begin like this. To make all of them takes longer than to read the words of most. */
async function rootFor([first = '', second = '']: readonly string[]): Promise<Group> {
  if (!CLIENT_WORDS.has(first)) return allCommands().root;
  if (!APP_WORDS.has(second)) return rootOf([(await import('./commands/cli.js')).cli]);
  const { app, cliOf } = await import('./commands/cli-app.js');
  return rootOf([cliOf([app])]);
}

const sources: ValueSources = {
  runs: (server, signal) => callClient().runNames(server, signal),
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
void run(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
  const [first = ''] = process.argv.slice(2);
  const isPrinted = process.stdout.writableLength + process.stderr.writableLength === 0;
  // These are over when they have their exit code. Node takes as long to take apart what such a command has made as the command took to read its
  // words, and need not.
  if (isPrinted && (CLIENT_WORDS.has(first) || VERSION_WORDS.has(first))) process.exit();
});
