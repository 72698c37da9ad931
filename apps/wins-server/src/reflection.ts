import type { Server } from '@grpc/grpc-js';
import { FILE_DESCRIPTOR_SET } from '@wins/wins-api';
import { addLazyService } from './lazy-service.js';

const METHODS = ['v1', 'v1alpha'].map((version) => ({
  path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
  requestStream: true,
  responseStream: true,
}));

/** Lets generic clients discover the services of the daemon and call them. */
export function addReflection(server: Server): void {
  addLazyService(server, METHODS, (sink) => {
    /* eslint-disable @typescript-eslint/no-require-imports -- loaded by the first call */
    const loader = require('@grpc/proto-loader') as typeof import('@grpc/proto-loader');
    const library = require('@grpc/reflection') as typeof import('@grpc/reflection');
    /* eslint-enable @typescript-eslint/no-require-imports */
    const descriptors = loader.loadFileDescriptorSetFromBuffer(
      Buffer.from(FILE_DESCRIPTOR_SET, 'base64'),
    );
    new library.ReflectionService(descriptors).addToServer(sink);
  });
}
