import { quoteText, type HostCommand } from '@wins/base';
import { WindowsError } from '../windows-error.js';
import { call, OwnedHandle } from '../win32/calls/call.js';
import { loadKoffi } from '../win32/calls/system-library.js';
import { kernel32, type Handle } from '../win32/kernel32.js';
import { PROCESS_INFORMATION, STARTUPINFOEXW } from '../win32/structures.js';
import type { Readable } from 'node:stream';
import { openNullDevice, openOutputPipe } from './windows-process-output.js';
import { creationTime, endProcess, isInJob, type ProcessIdentity } from './windows-process.js';

/** With the NUL at its end, a command line has at most 32,767 UTF-16 units. */
const MAX_CHARACTERS = 32_766;

/**
 * Writes a command line from which `CommandLineToArgvW` and the C runtimes read back exactly `argv0` and `args`.
 *
 * @throws WindowsError `invalidArgument` for NUL, for an `argv0` that is empty or contains a quotation mark, or for
 * more than 32,766 UTF-16 units in all.
 */
export function windowsCommandLine(argv0: string, args: readonly string[]): string {
  const tried = `cannot write the command line of ${quoteText(argv0, { maxLength: 300 })}`;
  const refuse = (found: string) => new WindowsError('invalidArgument', `${tried}: ${found}`);
  const tooLong = (length: number) =>
    refuse(`it has ${length} characters; wanted at most ${MAX_CHARACTERS}`);
  // Check the length before quoting the arguments, because a client may send far more than the limit.
  const least = args.reduce((sum, argument) => sum + argument.length + 1, argv0.length);
  if (least > MAX_CHARACTERS) throw tooLong(least);
  if (argv0 === '') throw refuse('the name of the program is empty');
  if (argv0.includes('"')) throw refuse('the name of the program holds a quotation mark');
  const line = [`"${argv0}"`, ...args.map(quoted)].join(' ');
  if (line.includes('\0')) throw refuse('it holds NUL');
  if (line.length > MAX_CHARACTERS) throw tooLong(line.length);
  return line;
}

// Doubles the backslashes before each quotation mark, including the closing one. Elsewhere, backslashes are literal.
function quoted(argument: string): string {
  if (!/[\s"]/.test(argument) && argument !== '') return argument;
  const parts = argument.split('"').map((part) => part + '\\'.repeat(backslashesAtEnd(part)));
  return `"${parts.join('\\"')}"`;
}

function backslashesAtEnd(text: string): number {
  let start = text.length;
  while (text[start - 1] === '\\') start -= 1;
  return text.length - start;
}

/**
 * Writes an environment for CreateProcessW. If names differ only in the case of A to Z, the last one counts.
 *
 * @throws WindowsError `invalidArgument` for a name that is empty or contains `=`, and for NUL anywhere.
 */
export function windowsEnvironmentBlock(environment: Readonly<Record<string, string>>): Buffer {
  const entries = new Map<string, string>();
  for (const [name, value] of Object.entries(environment)) {
    if (name === '' || name.includes('=') || `${name}${value}`.includes('\0')) {
      const message = `cannot write an environment: the name ${quoteText(name)} or its value is invalid: NUL is not allowed, nor "=" in a name`;
      throw new WindowsError('invalidArgument', message);
    }
    entries.set(foldAscii(name), `${name}=${value}\0`);
  }
  // Sort by code units, as the system does.
  const sorted = [...entries].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text);
  return Buffer.from(`${sorted.join('') || '\0'}\0`, 'utf16le');
}

/** Does not use `toUpperCase`, which maps \u017F to S and \u0131 to I: a name with such a letter would replace another. */
function foldAscii(name: string): string {
  return name.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/**
 * Adds a missing `SystemRoot`, because little works without it. Prevents the search for programs in the working
 * directory, which a client chose.
 */
export function programEnvironment(
  environment: Readonly<Record<string, string>>,
  own: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const entries = new Map<string, readonly [name: string, value: string]>();
  if (own['SystemRoot'] !== undefined) entries.set('SYSTEMROOT', ['SystemRoot', own['SystemRoot']]);
  for (const [name, value] of Object.entries(environment))
    entries.set(foldAscii(name), [name, value]);
  const safeSearch = 'NoDefaultCurrentDirectoryInExePath';
  entries.set(foldAscii(safeSearch), [safeSearch, '1']);
  return Object.fromEntries(entries.values());
}

/** Program to start. `file` must include its extension, because Windows assumes none. */
export type Program = Pick<HostCommand, 'file' | 'argv0' | 'args' | 'env' | 'directory'>;

interface Surroundings {
  /**
   * Job object that contains the process from its first instruction on. Undefined: the parent's job, unless `flags`
   * contains CREATE_BREAKAWAY_FROM_JOB.
   */
  readonly job: Handle | undefined;
  /** The only handles that the process inherits. */
  readonly stdio: readonly [stdin: Handle, stdout: Handle, stderr: Handle];
  readonly flags: number;
}

const CREATE_UNICODE_ENVIRONMENT = 0x400;
const EXTENDED_STARTUPINFO_PRESENT = 0x8_0000;
const PROC_THREAD_ATTRIBUTE_HANDLE_LIST = 0x2_0002;
const PROC_THREAD_ATTRIBUTE_JOB_LIST = 0x2_000d;
/** Makes the system use `wShowWindow`, which stays 0 (SW_HIDE). */
const STARTF_USESHOWWINDOW = 0x1;
const STARTF_USESTDHANDLES = 0x100;

/**
 * Starts a program without a shell, a path search or a window. Returns a handle with every right, which the caller closes.
 *
 * @throws WindowsError `invalidArgument` for a batch file, which Windows would start with its command interpreter,
 * and for arguments or variables that cannot be passed; otherwise the error of the system.
 */
export function startWindowsProcess(
  program: Program,
  surroundings: Surroundings,
): { readonly pid: number; readonly handle: OwnedHandle } {
  const { file } = program;
  const tried = `cannot start ${quoteText(file)}`;
  if (/\.(?:bat|cmd)[. ]*$/i.test(file)) {
    throw new WindowsError('invalidArgument', `${tried}: it is a batch file; wanted a program`);
  }
  const commandLine = utf16(windowsCommandLine(program.argv0, program.args));
  const environment = windowsEnvironmentBlock(programEnvironment(program.env));
  using attributes = new AttributeList(tried, [
    [PROC_THREAD_ATTRIBUTE_HANDLE_LIST, [...new Set(surroundings.stdio)]],
    ...(surroundings.job === undefined
      ? []
      : [[PROC_THREAD_ATTRIBUTE_JOB_LIST, [surroundings.job]] as const]),
  ]);
  const [hStdInput, hStdOutput, hStdError] = surroundings.stdio;
  const information = PROCESS_INFORMATION.create({});
  call(
    tried,
    kernel32.CreateProcessW,
    file,
    commandLine,
    null,
    null,
    1,
    surroundings.flags | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT,
    environment,
    program.directory,
    STARTUPINFOEXW.create({
      cb: STARTUPINFOEXW.sizeBytes,
      dwFlags: STARTF_USESHOWWINDOW | STARTF_USESTDHANDLES,
      hStdInput,
      hStdOutput,
      hStdError,
      lpAttributeList: attributes.address,
    }),
    information,
  );
  const { hProcess, hThread, dwProcessId } = PROCESS_INFORMATION.read(information);
  kernel32.CloseHandle(hThread);
  return { pid: dwProcessId, handle: new OwnedHandle(hProcess) };
}

/** Keeps alive the memory that the attributes point to. */
class AttributeList implements Disposable {
  readonly #list: Buffer;
  readonly #values: readonly Buffer[];

  constructor(tried: string, attributes: readonly (readonly [number, readonly Handle[]])[]) {
    const { InitializeProcThreadAttributeList: initialize, UpdateProcThreadAttribute: update } =
      kernel32;
    const size: [number] = [0];
    initialize(null, attributes.length, 0, size);
    const list = (this.#list = Buffer.alloc(size[0]));
    call(tried, initialize, list, attributes.length, 0, size);
    this.#values = attributes.map(([attribute, handles]) => {
      const value = Buffer.alloc(handles.length * 8);
      handles.forEach((handle, index) => value.writeBigInt64LE(BigInt(handle), index * 8));
      call(tried, update, list, 0, attribute, value, value.length, null, null);
      return value;
    });
  }

  get address(): bigint {
    return loadKoffi().address(this.#list);
  }

  [Symbol.dispose](): void {
    // Keep the values alive until here, because the list points into them.
    if (this.#values.length > 0) kernel32.DeleteProcThreadAttributeList(this.#list);
  }
}

function utf16(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf16le');
}

const DETACHED_PROCESS = 0x8;
const CREATE_BREAKAWAY_FROM_JOB = 0x100_0000;

/**
 * Starts a program that outlives this process and its run: outside the job, without console, input and output.
 *
 * @throws WindowsError `accessDenied` if the job of this process forbids it. A run's job does, unless the run's entry
 * sets `mayBreakAway`.
 */
export function startOutsideJob(program: Program): ProcessIdentity {
  return startWithStdout(program);
}

/** Works like {@link startOutsideJob}, with an output that the caller reads and destroys. */
export function startOutsideJobWithOutput(
  program: Program,
): ProcessIdentity & { readonly output: Readable } {
  const { stream: output, childEnd } = openOutputPipe();
  try {
    return { ...startWithStdout(program, childEnd.value), output };
  } catch (error) {
    output.destroy();
    throw error;
  } finally {
    childEnd.close();
  }
}

function startWithStdout(program: Program, stdout?: Handle): ProcessIdentity {
  using nothing = openNullDevice();
  const { value } = nothing;
  const { pid, handle } = startWindowsProcess(program, {
    job: undefined,
    stdio: [value, stdout ?? value, value],
    // With CREATE_NEW_PROCESS_GROUP, the program's children would ignore Ctrl-C, and Wine would send no Ctrl-Break either.
    flags: CREATE_BREAKAWAY_FROM_JOB | DETACHED_PROCESS,
  });
  using started = handle;
  const identity = { pid, created: creationTime(started.value) };
  // Check the job, because a forbidden breakaway may cause no error. When Node starts processes, it puts itself into a
  // job that allows breakaway. If an outer job, such as a run's, forbids breakaway, the program leaves only Node's job.
  if (!isInJob(started.value)) return identity;
  endProcess(identity);
  const tried = `cannot start ${quoteText(program.file)} outside the job of this process`;
  throw new WindowsError('accessDenied', `${tried}: it started inside the job and was ended`);
}
