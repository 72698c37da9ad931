import { readBytes, replaceFile, writePendingFile } from '@wins/trusted-files';
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { StateOf } from '../item/item.js';
import type { NodeRooms } from '../ports.js';
import type { Around } from '../run/install-context.js';

/** A service of the node, with what Windows keeps of it in its registry. */
export interface FolderService extends StateOf<'service'> {
  readonly dependencies: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** The state that Windows keeps in its registry and its stores: here one JSON file. */
export interface FolderSystem {
  readonly path: string;
  readonly services: Readonly<Record<string, FolderService>>;
  readonly certificates: Readonly<Record<string, string>>;
  readonly eventSources: readonly string[];
  readonly winHttpProxy?: StateOf<'winHttpProxy'>;
}

/** Starts and stops what services name. */
export interface ServiceRunner {
  /** Waits for the end of one that was told to stop. */
  start(name: string, service: FolderService): Promise<void>;
  stop(name: string): Promise<void>;
  /** Also of one that was told to stop and has not ended yet. */
  isRunning(name: string): boolean;
  /** Whether it was told to stop and has not ended yet. Absent: none is. */
  isStopping?(name: string): boolean;
}

const EMPTY: FolderSystem = { path: '/usr/bin', services: {}, certificates: {}, eventSources: [] };

type SystemRooms = Omit<NodeRooms, 'folder' | 'file'>;

/** The rooms for all but files and folders. Each write replaces the JSON file as one durable act. */
export function posixSystem(file: string, runner: ServiceRunner, around: Around): SystemRooms {
  const system = (): FolderSystem => readSystem(file);
  const service = (name: string): FolderService | undefined => system().services[name];
  // JSON leaves out what becomes undefined.
  const change = (effect: string, changed: Partial<Record<keyof FolderSystem, unknown>>) =>
    around(effect, () =>
      replaceFile(file, `${JSON.stringify({ ...system(), ...changed }, null, 2)}\n`),
    );
  const changeService = async (
    name: string,
    changed: Partial<Record<keyof FolderService, unknown>>,
  ) => {
    const before = service(name);
    if (before === undefined) throw new Error(`cannot change the service ${name}: found none`);
    const services = { ...system().services, [name]: { ...before, ...changed } };
    await change('change service', { services });
  };
  return {
    pathElement: {
      read: ({ path }) => presence(elements(file).includes(path)),
      write: async ({ path }, state) => {
        const all = elements(file);
        if (all.includes(path) === (state !== undefined)) return;
        const others = all.filter((each) => each !== path).join(':');
        const wanted = state === undefined ? [others] : [others, path].filter(Boolean);
        await change('write PATH', { path: wanted.join(':') });
      },
    },
    certificate: {
      read: ({ sha256 }) => presence(system().certificates[sha256] !== undefined),
      write: async ({ sha256 }, state, content) => {
        const der = state && (await contentIn(content, sha256)).toString('base64');
        const certificates = { ...system().certificates, [sha256]: der };
        await change('write root store', { certificates });
      },
      keep: ({ sha256 }, to) =>
        writeNew(to, Buffer.from(system().certificates[sha256] ?? '', 'base64')),
    },
    winHttpProxy: {
      read: () => Promise.resolve(system().winHttpProxy),
      write: (_item, winHttpProxy) => change('write WinHTTP', { winHttpProxy }),
    },
    eventSource: {
      read: ({ name }) => presence(system().eventSources.includes(name)),
      write: ({ name }, state) => {
        const others = system().eventSources.filter((each) => each !== name);
        const eventSources = state === undefined ? others : [...others, name];
        return change('write event sources', { eventSources });
      },
    },
    service: {
      read: ({ name }) => {
        const { command, startType } = service(name) ?? {};
        return Promise.resolve(command && startType ? { command, startType } : undefined);
      },
      write: async ({ name }, state) => {
        const before = service(name);
        if (before === undefined && state === undefined) return;
        if (state === undefined && runner.isRunning(name))
          await around('stop service', () => runner.stop(name));
        const made = state && { dependencies: [], environment: {}, ...before, ...state };
        const effect = state === undefined ? 'remove service' : 'register service';
        await change(effect, { services: { ...system().services, [name]: made } });
      },
    },
    variable: {
      read: ({ service: of, name }) => {
        const value = service(of)?.environment[name];
        return Promise.resolve(value === undefined ? undefined : { sha256: digestOf(value) });
      },
      write: async ({ service: of, name }, state, content) => {
        const found = service(of);
        if (found === undefined && state === undefined) return;
        const value = state && (await contentIn(content, state.sha256)).toString('utf8');
        await changeService(of, { environment: { ...found?.environment, [name]: value } });
      },
      keep: ({ service: of, name }, to) =>
        writeNew(to, Buffer.from(service(of)?.environment[name] ?? '')),
    },
    dependency: {
      read: ({ service: of, on }) => presence(service(of)?.dependencies.includes(on) === true),
      write: async ({ service: of, on }, state) => {
        const others = service(of)?.dependencies.filter((each) => each !== on);
        if (others === undefined && state === undefined) return;
        const dependencies = [...(others ?? []), ...(state === undefined ? [] : [on])];
        await changeService(of, { dependencies });
      },
    },
    running: {
      read: ({ service: name }) => presence(runner.isRunning(name)),
      write: async ({ service: name }, state) => {
        const runs = runner.isRunning(name);
        if (state === undefined) {
          if (!runs) return;
          requireNoDependents(system(), name, runner);
          return around('stop service', () => runner.stop(name));
        }
        if (runs && runner.isStopping?.(name) !== true) return;
        const found = service(name);
        if (found === undefined) throw new Error(`cannot start the service ${name}: found none`);
        await around('start service', () => runner.start(name, found));
      },
    },
  };
}

/** The whole system as it is on the disk. */
export function readSystem(file: string): FolderSystem {
  if (!existsSync(file)) return EMPTY;
  return { ...EMPTY, ...(JSON.parse(readFileSync(file, 'utf8')) as Partial<FolderSystem>) };
}

function elements(file: string): readonly string[] {
  return readSystem(file).path.split(':');
}

function presence(isThere: boolean): Promise<'present' | undefined> {
  return Promise.resolve(isThere ? 'present' : undefined);
}

/** As the service manager of Windows: what others that run depend on does not stop. */
function requireNoDependents(system: FolderSystem, name: string, runner: ServiceRunner): void {
  for (const [other, { dependencies }] of Object.entries(system.services)) {
    if (!dependencies.includes(name) || !runner.isRunning(other)) continue;
    throw new Error(`cannot stop the service ${name}: found that ${other} depends on it and runs`);
  }
}

async function contentIn(content: string | undefined, sha256: string): Promise<Buffer> {
  const bytes = await readBytes(content ?? '', { maxBytes: 1024 * 1024 });
  if (digestOf(bytes) === sha256) return bytes;
  throw new Error('found another digest than was planned');
}

async function writeNew(to: string, bytes: Buffer): Promise<void> {
  await writePendingFile(`${to}.kept`, { mode: 0o600 }, (write) => write(bytes, 0), to);
}

function digestOf(value: string | Buffer): string {
  return hash('sha256', value, 'hex');
}
