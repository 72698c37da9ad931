import { quoteText } from '@wins/wins-program';
import { windowsCommandLine } from './windows-command-line.js';
import { programEnvironment, windowsEnvironmentBlock } from './environment-block.js';
import { check, kernel32, type Handle } from '../win32/kernel32.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import {
  CREATE_UNICODE_ENVIRONMENT,
  EXTENDED_STARTUPINFO_PRESENT,
  PROC_THREAD_ATTRIBUTE_HANDLE_LIST,
  PROC_THREAD_ATTRIBUTE_JOB_LIST,
  processes,
} from '../win32/processes.js';
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
  const attributes = new AttributeList(tried, [
    [PROC_THREAD_ATTRIBUTE_HANDLE_LIST, [...new Set(surroundings.stdio)]],
    ...(surroundings.job === undefined
      ? []
      : [[PROC_THREAD_ATTRIBUTE_JOB_LIST, [surroundings.job]] as const]),
  ]);
  try {
    const information = Buffer.alloc(24);
    check(
      processes().CreateProcessW(
        file,
        commandLine,
        null,
        null,
        1,
        surroundings.flags | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT,
        environment,
        program.directory,
        startupInfo(surroundings.stdio, attributes.address),
        information,
      ) !== 0,
      'CreateProcessW',
      tried,
    );
    kernel32().CloseHandle(Number(information.readBigInt64LE(8)));
    return {
      pid: information.readUInt32LE(16),
      handle: new OwnedHandle(Number(information.readBigInt64LE(0))),
    };
  } finally {
    attributes.close();
  }
}

// STARTUPINFOEXW.
function startupInfo(stdio: Surroundings['stdio'], attributes: bigint): Buffer {
  const info = Buffer.alloc(112);
  info.writeUInt32LE(info.length, 0);
  info.writeUInt32LE(STARTF_USESHOWWINDOW | STARTF_USESTDHANDLES, 60);
  // SW_HIDE is 0, and there already.
  for (const [index, handle] of stdio.entries()) {
    info.writeBigInt64LE(BigInt(handle), 80 + index * 8);
  }
  info.writeBigUInt64LE(attributes, 104);
  return info;
}

/** A list of attributes of a process to be; it keeps what they point to. */
class AttributeList {
  readonly #list: Buffer;
  readonly #values: readonly Buffer[];

  constructor(tried: string, attributes: readonly (readonly [number, readonly Handle[]])[]) {
    const { InitializeProcThreadAttributeList: initialize, UpdateProcThreadAttribute: update } =
      processes();
    const size: [number] = [0];
    initialize(null, attributes.length, 0, size);
    this.#list = Buffer.alloc(size[0]);
    check(
      initialize(this.#list, attributes.length, 0, size) !== 0,
      'InitializeProcThreadAttributeList',
      tried,
    );
    this.#values = attributes.map(([attribute, handles]) => {
      const value = Buffer.alloc(handles.length * 8);
      handles.forEach((handle, index) => value.writeBigInt64LE(BigInt(handle), index * 8));
      const done = update(this.#list, 0, attribute, value, value.length, null, null);
      check(done !== 0, 'UpdateProcThreadAttribute', tried);
      return value;
    });
  }

  get address(): bigint {
    return processes().koffi.address(this.#list);
  }

  close(): void {
    // The list points into the values: they must have lived until here.
    if (this.#values.length > 0) processes().DeleteProcThreadAttributeList(this.#list);
  }
}

function utf16(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf16le');
}
