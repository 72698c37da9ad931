import path from 'node:path';
import type { CsiProxyManager } from '../csi-proxy-port.js';
import { LinuxService } from './linux-service.js';

/** Returns the file that replaces the service csiproxy in specs; undefined if the environment names none. */
export function serviceFile(): string | undefined {
  const file = process.env['WINS_CSI_PROXY_SERVICE'];
  return file !== undefined && path.isAbsolute(file) ? file : undefined;
}

/** The service's programs are scripts. The Go release's program is in `System32` beside the file. */
export function linuxManager(file: string): CsiProxyManager {
  const goProgram = path.join(path.dirname(file), 'System32', 'csi-proxy.exe');
  return { service: new LinuxService(file), goProgram, programMagic: Buffer.from('#!') };
}
