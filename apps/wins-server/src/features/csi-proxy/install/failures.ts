import { CsiProxyError } from '../csi-proxy-error.js';
import { fileSystemError } from '@wins/trusted-files';
import { messageOf } from '@wins/base';
import { FeatureError } from '../../../kernel/feature-error.js';
import type { CsiProxyService } from '../csi-proxy-port.js';

/** @throws FeatureError `fileFailed`, which names the operation and the path. A FeatureError of `action` passes through. */
export async function withFile<Result>(
  tried: string,
  file: string,
  action: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof FeatureError) throw error;
    const cause = fileSystemError(error, tried, file);
    throw new CsiProxyError('fileFailed', messageOf(cause), { cause });
  }
}

/** Turns each error of a call into FeatureError `serviceFailed`, which names the operation. */
export function withReasons(service: CsiProxyService): CsiProxyService {
  const { name } = service;
  const told = async <Result>(tried: string, action: () => Promise<Result>): Promise<Result> => {
    try {
      return await action();
    } catch (cause) {
      const message = `cannot ${tried} the service ${name}: ${messageOf(cause)}`;
      throw new CsiProxyError('serviceFailed', message, { cause });
    }
  };
  return {
    name,
    query: () => told('query', () => service.query()),
    create: (command) => told('register', () => service.create(command)),
    setCommand: (command) => told('register', () => service.setCommand(command)),
    start: () => told('start', () => service.start()),
    stop: (graceMs) => told('stop', () => service.stop(graceMs)),
    endLeftovers: (program) => told('end leftovers of', () => service.endLeftovers(program)),
    remove: () => told('remove', () => service.remove()),
    isServing: () => told('check the pipe of', () => service.isServing()),
  };
}
