import { connectPipe, type ConnectPipeOptions, type PipeServerCheck } from '@wins/pipe-transport';
import type { Socket } from 'node:net';

/** The name under which the daemon is registered as a service of Windows. */
const SERVICE_NAME = 'rancher-wins';

/**
 * Connects to a pipe of the daemon; on Windows only to one whose server is the service or runs with privileges: whoever is
 * there first may have the name of a pipe.
 *
 * @throws PipeError as `connectPipe` does.
 */
export async function connectTrustedPipe(
  pipe: string,
  options: Omit<ConnectPipeOptions, 'security'> = {},
): Promise<Socket> {
  const security = process.platform === 'win32' ? await windowsCheck() : undefined;
  return connectPipe(pipe, { ...options, security });
}

async function windowsCheck(): Promise<PipeServerCheck> {
  const { securedPipeClient, serviceControlManager, WindowsError } =
    await import('@wins/windows-host');
  const services = serviceControlManager();
  const servicePid = (): number | undefined => {
    try {
      return services.status(SERVICE_NAME)?.pid;
    } catch (error) {
      // A container has no such service, and some have no service control manager that one may ask.
      if (error instanceof WindowsError) return undefined;
      throw error;
    }
  };
  return securedPipeClient({ servicePid });
}
