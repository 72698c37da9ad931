import type koffiModule from 'koffi';
import path from 'node:path';
import { WindowsError } from '../../windows-error.js';
import type { FunctionOf, NameIn } from './c-declaration.js';

type Koffi = typeof koffiModule;

/** The functions of a DLL, each by its name. */
export type SystemLibrary<Prototypes extends readonly string[]> = {
  readonly [P in Prototypes[number] as NameIn<P>]: FunctionOf<P>;
};

/**
 * Makes a value at its first use and keeps it: what is native is loaded when it is needed, never at import, because most
 * programs that import this library run where it cannot be loaded.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** The foreign function interface; its structures work everywhere. */
export const loadKoffi = lazily(
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- at first use, never at import
  (): Koffi => require('koffi') as Koffi,
);

/**
 * Declares functions of a DLL by their prototypes, from which their types follow. The DLL is loaded from System32 and nowhere else,
 * whatever directories are searched by default; each function is looked up at its first use.
 *
 * @param feature What is not installed where the DLL or a function is absent. Default: Windows.
 * @throws WindowsError `unavailable`, at the first use of a function that this system does not have.
 */
export function systemLibrary<const Prototypes extends readonly string[]>(
  file: string,
  prototypes: Prototypes,
  feature = 'Windows',
): SystemLibrary<Prototypes> {
  const library = {} as SystemLibrary<Prototypes>;
  const load = lazily(() => loadLibrary(file, feature));
  for (const prototype of prototypes) {
    const name = /\w+(?=\()/.exec(prototype)?.[0] ?? '';
    const get = (): unknown => {
      const tried = `looked for "${prototype}" in ${systemPath(file)}`;
      const value: unknown = attempt(tried, feature, () => load().func(prototype));
      Object.defineProperty(library, name, { value, configurable: true, writable: true });
      return value;
    };
    Object.defineProperty(library, name, { get, configurable: true });
  }
  return library;
}

/** The address of a function, for calls that take functions. @throws WindowsError `unavailable`. */
export function addressOfFunction(file: string, name: string): bigint {
  // The system keeps it loaded.
  loadLibrary(file, 'Windows');
  const address = modules.GetProcAddress(modules.GetModuleHandleW(file), name);
  if (address !== null) return address;
  throw new WindowsError('unavailable', `looked for ${name} in ${file}: it is not there`);
}

const modules = systemLibrary('kernel32.dll', [
  'intptr_t GetModuleHandleW(str16 module)',
  'void *GetProcAddress(intptr_t module, str name)',
]);

/** The absolute path of a file in System32; of the program that runs, its own. */
export function systemPath(file: string): string {
  if (file === process.execPath) return file;
  return path.win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', file);
}

function loadLibrary(file: string, feature: string): ReturnType<Koffi['load']> {
  if (process.platform !== 'win32') {
    const found = `this is ${process.platform}`;
    throw new WindowsError('unavailable', `called Windows: ${found}; it is there on win32 only`);
  }
  const location = systemPath(file);
  return attempt(`loaded ${location}`, feature, () => loadKoffi().load(location));
}

function attempt<T>(tried: string, feature: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof WindowsError) throw cause;
    const message = `${tried}: it is not there; ${feature} is not installed`;
    throw new WindowsError('unavailable', message, { cause });
  }
}
