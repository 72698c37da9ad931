import { messageOf } from '@wins/wins-program';
import { CsiProxyError } from '../csi-proxy-error.js';
import type { CsiProxyService } from '../ports.js';

/** Asks the service manager. @throws CsiProxyError `serviceFailed`, with what was tried; errors of this library as they are. */
export async function callService<Result>(
  { name }: Pick<CsiProxyService, 'name'>,
  tried: string,
  act: () => Promise<Result>,
): Promise<Result> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof CsiProxyError) throw cause;
    const message = `cannot ${tried} the service ${name}: ${messageOf(cause)}`;
    throw new CsiProxyError('serviceFailed', message, { cause });
  }
}
