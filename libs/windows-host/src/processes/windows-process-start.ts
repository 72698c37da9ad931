import { quoteText } from '@wins/wins-program';
import { windowsCommandLine } from './windows-command-line.js';
import { programEnvironment, windowsEnvironmentBlock } from './environment-block.js';
import { call } from '../win32/calls/call.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { loadKoffi } from '../win32/calls/system-library.js';
import { kernel32, type Handle } from '../win32/kernel32.js';
import { PROCESS_INFORMATION, STARTUPINFOEXW } from '../win32/structures.js';
import { WindowsError } from '../windows-error.js';

/** What to start. */
export interface Program {
  /** Absolute path with its extension: nothing is searched. */
  readonly file: string;
  /** What the program sees as its own name. */
  readonly argv0: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of the working directory. */
  readonly directory: string;
}

/** In which surroundings. */
export interface Surroundings {
  /** The process is in this job from its first instruction; undefined is whatever job its parent is in. */
  readonly job: Handle | undefined;
  /** Inheritable handles for input, output and errors: the only ones that the process inherits. */
  readonly stdio: readonly [stdin: Handle, stdout: Handle, stderr: Handle];
  /** Flags of CreateProcessW, such as CREATE_NEW_CONSOLE. */
  readonly flags: number;
}

/** A process that was started. */
export interface StartedProcess {
  readonly pid: number;
  /** With every right; the caller closes it. */
  readonly handle: OwnedHandle;
}

const CREATE_UNICODE_ENVIRONMENT = 0x400;
const EXTENDED_STARTUPINFO_PRESENT = 0x8_0000;
const PROC_THREAD_ATTRIBUTE_HANDLE_LIST = 0x2_0002;
const PROC_THREAD_ATTRIBUTE_JOB_LIST = 0x2_000d;
/** With SW_HIDE, which is 0. */
const STARTF_USESHOWWINDOW = 0x1;
const STARTF_USESTDHANDLES = 0x100;

/**
 * Starts a program: no shell, no search, no window.
 *
 * @throws WindowsError `invalidArgument` for a batch file, for which Windows would start its command interpreter, and for
 * arguments or variables that cannot be passed; else what the system said.
 */
export function startWindowsProcess(program: Program, surroundings: Surroundings): StartedProcess {
  const { file } = program;
  const tried = `started ${quoteText(file)}`;
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
      ...{ hStdInput, hStdOutput, hStdError },
      lpAttributeList: attributes.address,
    }),
    information,
  );
  const { hProcess, hThread, dwProcessId } = PROCESS_INFORMATION.read(information);
  kernel32.CloseHandle(hThread);
  return { pid: dwProcessId, handle: new OwnedHandle(hProcess) };
}

/** A list of attributes of a process to be; it keeps what they point to. */
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
    // The list points into the values: they must have lived until here.
    if (this.#values.length > 0) kernel32.DeleteProcThreadAttributeList(this.#list);
  }
}

function utf16(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf16le');
}
