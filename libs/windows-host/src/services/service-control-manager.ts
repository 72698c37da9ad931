import { setTimeout as delay } from 'node:timers/promises';
import { windowsCommandLine } from '../processes/windows-process-start.js';
import { RegistryKey } from '../registry/registry.js';
import * as settings from './service-config.js';
import type { ServiceConfig, ServiceDefinition, ServiceStartType } from './service-config.js';
import * as waiting from './service-wait.js';
import { withService, type ServiceStatus, type WaitOptions } from './service-wait.js';
import { advapi32 } from '../win32/advapi32.js';
import { call, checkStatus, inBackground } from '../win32/calls/call.js';
import { kernel32 } from '../win32/kernel32.js';
import { SERVICE_STATUS } from '../win32/structures.js';
import { systemError, unlessFails } from '../windows-error.js';

/** Outcome of a registration. */
export interface Registration {
  readonly outcome: 'created' | 'updated';
  /** True when the service runs with its previous settings; the new ones apply from its next start. */
  readonly needsRestart: boolean;
  /** Settings that this system does not know. */
  readonly ignored: readonly string[];
}

/** Changes to a service. */
export interface ServiceChange {
  /** The whole line, as in {@link ServiceConfig}. */
  readonly commandLine?: string | undefined;
  readonly startType?: ServiceStartType | undefined;
  readonly dependencies?: readonly string[] | undefined;
}

/** The services of this machine. Keeps no handles open between calls. */
export interface ServiceControlManager {
  /** @throws WindowsError `notFound`, `accessDenied`. */
  status(name: string): ServiceStatus;
  /** @throws WindowsError `notFound`, `accessDenied`. */
  config(name: string): ServiceConfig;
  /**
   * Creates a service, or changes the existing one to match the definition, except for its account. If a setting of a
   * new service cannot be written, removes that service.
   *
   * @throws WindowsError `accessDenied`; `busy` while an earlier service of that name is being removed.
   */
  register(definition: ServiceDefinition): Registration;
  /**
   * Changes only the command of a service, durably: after a loss of power the service has the old command line or the
   * new one. A running process continues.
   *
   * @throws WindowsError `notFound`, `accessDenied`, `invalidArgument`.
   */
  setCommand(name: string, command: readonly string[]): void;
  /**
   * Makes only the given changes, durably. A running process continues.
   *
   * @throws WindowsError `notFound`, `accessDenied`, `invalidArgument`; `busy` while the service is being removed.
   */
  change(name: string, change: ServiceChange): void;
  /**
   * Starts a service and waits until it runs. An abort does not cancel a start in progress, which lasts up to 30 s if
   * the program never connects.
   *
   * @throws WindowsError `notFound`, `accessDenied`, `timeout`; `unknown`, with the exit code, when the service ended instead.
   */
  start(name: string, options?: WaitOptions): Promise<ServiceStatus>;
  /**
   * Stops a service and waits until it has stopped. Retries while the service cannot take the request.
   *
   * @throws WindowsError `notFound`, `accessDenied`, `timeout`; `busy` while dependent services run.
   */
  stop(name: string, options?: WaitOptions): Promise<ServiceStatus>;
  /**
   * Returns false when there is no such service. The service disappears once it has stopped and no program holds it
   * open; `gone` waits for this.
   *
   * @throws WindowsError `accessDenied`.
   */
  remove(name: string): boolean;
  /** Waits until the name of a removed service is free; false after `timeoutMs`. */
  gone(name: string, options?: Pick<WaitOptions, 'timeoutMs' | 'signal'>): Promise<boolean>;
}

const SC_MANAGER_CONNECT = 0x1;
const SC_MANAGER_CREATE_SERVICE = 0x2;
const SERVICE_QUERY_CONFIG = 0x1;
const SERVICE_QUERY_STATUS = 0x4;
const SERVICE_CHANGE_CONFIG = 0x2;
const SERVICE_START = 0x10;
const SERVICE_STOP = 0x20;
const DELETE = 0x10000;
const SERVICE_WIN32_OWN_PROCESS = 0x10;
const SERVICE_ERROR_NORMAL = 1;
const SERVICE_NO_CHANGE = 0xffff_ffff;
const SERVICE_CONTROL_STOP = 1;

const ERROR_INVALID_SERVICE_CONTROL = 1052;
const ERROR_SERVICE_DATABASE_LOCKED = 1055;
const ERROR_SERVICE_ALREADY_RUNNING = 1056;
const ERROR_SERVICE_CANNOT_ACCEPT_CTRL = 1061;
const ERROR_SERVICE_NOT_ACTIVE = 1062;
const ERROR_SERVICE_MARKED_FOR_DELETE = 1072;

const START_TYPES = { automatic: 2, delayed: 2, manual: 3, disabled: 4 } as const;

/**
 * Each operation requests only the rights that it needs.
 *
 * @throws WindowsError `unavailable` on other systems, at the first operation.
 */
export function serviceControlManager(): ServiceControlManager {
  return {
    status: (name) =>
      withService(name, SERVICE_QUERY_STATUS, 'query its state', (service) =>
        waiting.statusOf(service, name),
      ),
    config: (name) =>
      withService(name, SERVICE_QUERY_CONFIG, 'query its configuration', (service) =>
        settings.readConfig(service, name),
      ),
    register,
    setCommand: (name, command) => change(name, { commandLine: lineOf(command) }),
    change,
    start,
    stop: async (name, options = {}) =>
      withService(name, SERVICE_STOP | SERVICE_QUERY_STATUS, 'stop it', async (service) => {
        const tried = `cannot stop the service ${name}`;
        let isAsked = false;
        const beforeLook = (): void => {
          isAsked ||= askToStop(service, tried);
        };
        return await waiting.waitFor('stopped', { service, name, tried, beforeLook }, options);
      }),
    remove,
    gone: async (name, options = {}) => await waiting.waitUntilGone(() => isThere(name), options),
  };
}

function isThere(name: string): boolean {
  const look = (): boolean =>
    withService(name, SERVICE_QUERY_STATUS, 'check that it exists', () => true);
  return unlessFails(look, 'notFound') ?? false;
}

async function start(name: string, options: WaitOptions = {}): Promise<ServiceStatus> {
  options.signal?.throwIfAborted();
  const tried = `cannot start the service ${name}`;
  const sinceMs = performance.now();
  // The service control manager answers once the program has connected to it, or after 30 s without a connection.
  const answered = withService(name, SERVICE_START, 'start it', async (service) => {
    const endMs = sinceMs + (options.timeoutMs ?? waiting.DEFAULT_TIMEOUT_MS);
    for (;;) {
      const { result, errorNumber } = await inBackground(advapi32.StartServiceW, service, 0, null);
      if (result !== 0 || errorNumber === ERROR_SERVICE_ALREADY_RUNNING) return;
      const isOver = options.signal?.aborted === true || performance.now() >= endMs;
      // The database is locked while another service starts. This start has not begun, so retry.
      if (errorNumber !== ERROR_SERVICE_DATABASE_LOCKED || isOver)
        throw systemError(tried, { functionName: 'StartServiceW', errorNumber });
      await delay(waiting.LOOK_EVERY_MS);
    }
  });
  await waiting.waitForCall(answered, options);
  return await withService(name, SERVICE_QUERY_STATUS, 'wait for it', (service) =>
    waiting.waitFor('running', { service, name, tried, sinceMs }, options),
  );
}

function register(definition: ServiceDefinition): Registration {
  const { name } = definition;
  const commandLine = definition.commandLine ?? lineOf(definition.command);
  const applySettings = (service: number) =>
    settings.writeSettings(service, name, settings.settingsOf(definition));
  const rights = settings.CHANGE_RIGHTS;
  const update = (): Registration =>
    withService(name, rights | SERVICE_QUERY_STATUS, 'change it', (service) => {
      writeConfig(service, name, { ...definition, commandLine }, definition.displayName);
      const ignored = applySettings(service);
      const needsRestart = waiting.statusOf(service, name).state !== 'stopped';
      return { outcome: 'updated', needsRestart, ignored };
    });
  const create = (): Registration =>
    waiting.withManager(SC_MANAGER_CONNECT | SC_MANAGER_CREATE_SERVICE, (manager) => {
      const handle = call(
        `cannot register the service ${name}`,
        advapi32.CreateServiceW,
        manager,
        name,
        definition.displayName,
        rights | DELETE,
        SERVICE_WIN32_OWN_PROCESS,
        START_TYPES[definition.startType],
        SERVICE_ERROR_NORMAL,
        commandLine,
        null,
        null,
        settings.multiString(definition.dependencies),
        null,
        null,
      );
      return waiting.using(handle, (service) => {
        try {
          return { outcome: 'created', needsRestart: false, ignored: applySettings(service) };
        } catch (error) {
          advapi32.DeleteService(service);
          throw error;
        }
      });
    });
  const updated = unlessFails(update, 'notFound');
  // If the service exists now, another process has just created it, so update it.
  return updated ?? unlessFails(create, 'alreadyExists') ?? update();
}

function lineOf([program = '', ...args]: readonly string[]): string {
  return windowsCommandLine(program, args);
}

/** Writes the given changes. With a display name, also sets the service type and error control. */
function writeConfig(
  service: number,
  name: string,
  { commandLine, startType, dependencies }: ServiceChange,
  displayName?: string,
): void {
  const same = SERVICE_NO_CHANGE;
  const isWhole = displayName !== undefined;
  call(
    `cannot change the service ${name}`,
    advapi32.ChangeServiceConfigW,
    service,
    isWhole ? SERVICE_WIN32_OWN_PROCESS : same,
    startType === undefined ? same : START_TYPES[startType],
    isWhole ? SERVICE_ERROR_NORMAL : same,
    commandLine ?? null,
    null,
    null,
    dependencies === undefined ? null : settings.multiString(dependencies),
    null,
    null,
    displayName ?? null,
  );
}

function change(name: string, change: ServiceChange): void {
  const { startType } = change;
  withService(name, SERVICE_CHANGE_CONFIG, 'change it', (service) => {
    writeConfig(service, name, change);
    if (startType === undefined) return;
    settings.writeSettings(service, name, settings.startSettings(startType));
  });
  // The service control manager stores the configuration in the registry. Without this flush, the system would write it
  // to the disk later.
  using key = RegistryKey.open(`SYSTEM\\CurrentControlSet\\Services\\${name}`);
  key?.flush();
}

function remove(name: string): boolean {
  const action = (): boolean =>
    withService(name, DELETE, 'remove it', (service) => {
      const { GetLastError } = kernel32;
      const errorNumber = advapi32.DeleteService(service) === 0 ? GetLastError() : 0;
      const fine = ERROR_SERVICE_MARKED_FOR_DELETE;
      checkStatus(`cannot remove the service ${name}`, 'DeleteService', errorNumber, fine);
      return true;
    });
  return unlessFails(action, 'notFound') ?? false;
}

/** The system rejects a stop with one of these errors while the service is starting. */
const LATER: readonly number[] = [ERROR_SERVICE_CANNOT_ACCEPT_CTRL, ERROR_INVALID_SERVICE_CONTROL];

/** Returns false when the service cannot take the request now; then the caller retries. */
function askToStop(service: number, tried: string): boolean {
  const { GetLastError } = kernel32;
  const status = SERVICE_STATUS.create({});
  if (advapi32.ControlService(service, SERVICE_CONTROL_STOP, status) !== 0) return true;
  const errorNumber = GetLastError();
  if (LATER.includes(errorNumber)) return false;
  if (errorNumber === ERROR_SERVICE_NOT_ACTIVE) return true;
  throw systemError(tried, { functionName: 'ControlService', errorNumber });
}
