import type koffiModule from 'koffi';
import path from 'node:path';
import { WindowsError } from '../../windows-error.js';

type Koffi = typeof koffiModule;

/** A DLL of the system. */
export interface SystemLibrary {
  readonly koffi: Koffi;
  /**
   * Binds a function by its C prototype.
   *
   * @throws WindowsError `unavailable` when this system's DLL has no such function.
   */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the prototype is text: its caller names the type
  readonly bind: <F>(prototype: string) => F;
}

/**
 * Makes a value at its first use and keeps it: bindings are loaded when they are needed, never at import, because most
 * programs that import this library run where they cannot be loaded.
 */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/**
 * The foreign function interface.
 *
 * @throws WindowsError `unavailable` on other systems.
 */
export const loadKoffi = lazily((): Koffi => {
  if (process.platform !== 'win32') {
    const found = `this is ${process.platform}`;
    throw new WindowsError('unavailable', `called Windows: ${found}; it is there on win32 only`);
  }
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- at first use, never at import
  return require('koffi') as Koffi;
});

/** Loads a DLL from System32 and nowhere else, whatever directories are searched by default. `feature` is what misses without it. */
export function loadSystemLibrary(file: string, feature = 'Windows'): SystemLibrary {
  const koffi = loadKoffi();
  const location = systemPath(file);
  const library = attempt(`loaded ${location}`, feature, () => koffi.load(location));
  return {
    koffi,
    bind: (prototype) => {
      const tried = `looked for "${prototype}" in ${location}`;
      return attempt(tried, feature, () => library.func(prototype)) as never;
    },
  };
}

/** The absolute path of a file in System32. */
export function systemPath(file: string): string {
  return path.win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', file);
}

function attempt<T>(tried: string, feature: string, act: () => T): T {
  try {
    return act();
  } catch (cause) {
    const message = `${tried}: it is not there; ${feature} is not installed`;
    throw new WindowsError('unavailable', message, { cause });
  }
}
