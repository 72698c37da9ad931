import {
  registerEventSource,
  serviceControlManager,
  unregisterEventSource,
  WindowsError,
} from '@wins/windows-host';
import { configFileOf, parseServiceCommand } from '@wins/service-upgrade';
import { defaultConfigPath } from '@wins/config';
import { EXIT, SERVICE_NAME } from '@wins/base';
import { loadDaemonConfig } from '../load-daemon-config.js';
import { FEATURES } from '../features/features.js';
import {
  serviceDefinition,
  wordsOf,
  type RegisterOptions,
} from '../service/windows-service-definition.js';

/** `wins srv app run --register`: registers the service, but neither starts nor stops it. */
export async function registerService(options: RegisterOptions): Promise<number> {
  // With an unusable config, the service would fail when it starts, and report the error where users rarely look.
  const { warnings } = await loadDaemonConfig(options.config);
  requireWindows('register the service');
  for (const { message } of warnings) process.stderr.write(`wins: warning: ${message}\n`);
  const definition = serviceDefinition(options, process);
  const { outcome, needsRestart, ignored } = serviceControlManager().register(definition);
  registerEventSource(SERVICE_NAME);
  say(`the service ${SERVICE_NAME} is ${outcome === 'created' ? 'registered' : 'up to date'}`);
  if (needsRestart) say('the service is running: the changes take effect when it is restarted');
  if (ignored.length > 0) say(`this version of Windows does not support: ${ignored.join(', ')}`);
  return EXIT.server.ok;
}

/** A removed service disappears at once unless another program holds it open. */
const GONE_WITHIN_MS = 10_000;

/** `wins srv app run --unregister`: removes the service, and ends what would outlive it. A service that cannot be stopped stays registered. */
export async function unregisterService(): Promise<number> {
  requireWindows('remove the service');
  const services = serviceControlManager();
  try {
    const config = configOfService(services.config(SERVICE_NAME).commandLine);
    await services.stop(SERVICE_NAME);
    for (const { removal } of FEATURES) {
      const found = await removal?.endOrphans?.(config);
      if (found !== undefined) say(`${removal?.what} may still be running: ${found}`);
    }
    services.remove(SERVICE_NAME);
    const isGone = await services.gone(SERVICE_NAME, { timeoutMs: GONE_WITHIN_MS });
    say(`the service ${SERVICE_NAME} is removed`);
    if (!isGone)
      say('another program holds it open: its name stays taken until that program closes it');
  } catch (error) {
    if (!(error instanceof WindowsError) || error.code !== 'notFound') throw error;
    say(`there is no service ${SERVICE_NAME}`);
  }
  unregisterEventSource(SERVICE_NAME);
  return EXIT.server.ok;
}

function configOfService(commandLine: string): string {
  const args = parseServiceCommand(commandLine)?.args ?? [];
  // Skips the words that start the program itself.
  return configFileOf(args.slice(wordsOf(process).length - 1), defaultConfigPath());
}

function requireWindows(action: string): void {
  if (process.platform === 'win32') return;
  const message = `cannot ${action} ${SERVICE_NAME}: this is ${process.platform}, not Windows. Have a supervisor such as systemd run "wins srv app run"`;
  throw new WindowsError('unavailable', message);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
